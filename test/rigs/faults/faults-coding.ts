import { gzipSync } from 'node:zlib';
import { answers, CUT, everywhere, type Fault, fails, harmless } from './fault.ts';
import type { Answer } from './response.ts';

const encoded = ({ headers }: Answer, coding: string, body: Uint8Array): Partial<Answer> => ({
  headers: { ...headers, 'content-encoding': coding },
  body,
});
const damaged = (zipped: Buffer): Buffer => {
  zipped[zipped.length - 6] = (zipped[zipped.length - 6] ?? 0) ^ 0xff;
  return zipped;
};

/** What can go wrong with compression, and with sizes. */
export const codingFaults: readonly Fault[] = [
  {
    name: 'gets a gzip answer',
    effects: harmless,
    act: answers((healthy) => encoded(healthy, 'gzip', gzipSync(healthy.body))),
  },
  {
    name: 'gets a gzip answer that is damaged',
    effects: everywhere(CUT),
    act: answers((healthy) => encoded(healthy, 'gzip', damaged(gzipSync(healthy.body)))),
  },
  {
    name: 'gets a gzip answer that is cut',
    effects: everywhere(CUT),
    act: answers((healthy) => encoded(healthy, 'gzip', gzipSync(healthy.body).subarray(0, -9))),
  },
  {
    name: 'gets plain text that says it is gzip',
    effects: everywhere(CUT),
    act: answers((healthy) => encoded(healthy, 'gzip', Buffer.from(healthy.body))),
  },
  {
    name: 'gets a gzip bomb',
    effects: everywhere(fails('contract', 200)),
    act: answers((healthy) => encoded(healthy, 'gzip', gzipSync(Buffer.alloc(5_000_000, 0x20)))),
  },
  {
    name: 'gets more than the largest body',
    effects: everywhere(fails('contract', 200)),
    act: answers(({ body }) => ({ body: `${body}${' '.repeat(200_000)}` })),
  },
  {
    name: 'gets an encoding that was not accepted',
    effects: everywhere(fails('contract', 200)),
    act: answers((healthy) => encoded(healthy, 'zstd', Buffer.from(healthy.body))),
  },
];
