import {
  answers,
  BROKEN,
  bodyAt,
  bytes,
  CUT,
  everywhere,
  type Fault,
  fails,
  harmless,
  OVERTIME,
  resets,
  STALLED,
  stalls,
} from './fault.ts';
import { type Answer, render } from './response.ts';

const headers = (whole: Buffer): Buffer => whole.subarray(0, bodyAt(whole));
const half = (whole: Buffer): Buffer => whole.subarray(0, (bodyAt(whole) + whole.length) / 2);
/** A chunked response without its last chunk, which would mark its end. */
const chunked = ({ body, ...rest }: Answer, end: string): Partial<Answer> => ({
  headers: { ...rest.headers, 'content-length': '', 'transfer-encoding': 'chunked' },
  body: `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n${end}`,
});
const DRIP_MS = 20;

/** Faults below HTTP, and in its framing. */
export const wireFaults: readonly Fault[] = [
  { name: 'finds a closed port', effects: everywhere(BROKEN), refuses: true },
  {
    name: 'is reset as soon as it connects',
    effects: everywhere(BROKEN),
    atAccept: (socket) => socket.resetAndDestroy(),
  },
  { name: 'is hung up on without a word', effects: everywhere(BROKEN), act: (socket) => socket.end() },
  {
    name: 'is reset in the middle of the headers',
    effects: everywhere(BROKEN),
    act: resets((all) => all.subarray(0, 40)),
  },
  {
    name: 'is left in the middle of the headers',
    effects: everywhere(BROKEN),
    act: bytes((all) => all.subarray(0, 40)),
  },
  { name: 'is reset in the middle of the body', effects: everywhere(CUT), act: resets(half) },
  { name: 'is left in the middle of the body', effects: everywhere(CUT), act: bytes(half) },
  { name: 'is left a byte before the end', effects: everywhere(CUT), act: bytes((all) => all.subarray(0, -1)) },
  {
    // A status kept from the attempt before would show up here.
    name: 'is answered 503 and hung up on in turn',
    effects: everywhere(BROKEN),
    act: (socket, healthy, hit) => socket.end(hit % 2 === 0 ? '' : render({ ...healthy, status: 503 })),
  },
  { name: 'is never answered', effects: everywhere(OVERTIME), act: () => undefined, hangs: true },
  {
    name: 'gets headers and never a body',
    effects: everywhere(STALLED),
    act: stalls(headers),
    hangs: true,
  },
  { name: 'gets half a body and no more', effects: everywhere(STALLED), act: stalls(half), hangs: true },
  {
    name: 'gets its body byte by byte',
    effects: everywhere(STALLED),
    act: (socket, healthy) => {
      const body = Buffer.from(healthy.body);
      socket.write(headers(render(healthy)));
      let sent = 0;
      const timer = setInterval(() => {
        socket.write(body.subarray(sent, sent + 1));
        sent += 1;
      }, DRIP_MS);
      socket.on('close', () => clearInterval(timer));
    },
    hangs: true,
  },
  {
    name: 'gets a length longer than its body',
    effects: everywhere(CUT),
    act: answers(({ headers, body }) => ({ headers: { ...headers, 'content-length': String(body.length + 1_000) } })),
  },
  {
    name: 'gets a length shorter than its body',
    effects: everywhere(fails('contract', 200)),
    act: answers(({ headers }) => ({ headers: { ...headers, 'content-length': '30' } })),
  },
  {
    name: 'gets a length that is no number',
    effects: everywhere(BROKEN),
    act: answers(({ headers }) => ({ headers: { ...headers, 'content-length': 'all' } })),
  },
  {
    name: 'gets two lengths',
    effects: everywhere(BROKEN),
    act: answers(({ headers }) => ({ headers: { ...headers, 'Content-Length': '2' } })),
  },
  {
    name: 'is asked to speak another protocol',
    effects: everywhere(BROKEN),
    act: bytes(() => 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
  },
  {
    name: 'gets all chunks but the last',
    effects: everywhere(CUT),
    act: answers((healthy) => chunked(healthy, '')),
  },
  {
    name: 'gets a chunk that is cut',
    effects: everywhere(CUT),
    act: answers((healthy) => chunked(healthy, 'ff\r\n{')),
  },
  {
    name: 'gets a chunk of no length',
    effects: everywhere(CUT),
    act: answers((healthy) => chunked(healthy, 'many\r\n')),
  },
  {
    name: 'gets a chunked answer',
    effects: harmless,
    act: answers((healthy) => chunked(healthy, '0\r\n\r\n')),
  },
  {
    name: 'gets an answer that ends with the connection',
    effects: harmless,
    act: answers(({ headers }) => ({ headers: { ...headers, 'content-length': '' } })),
  },
  {
    name: 'gets garbage in place of HTTP',
    effects: everywhere(BROKEN),
    act: bytes(() => '220 mail.example.com ESMTP ready\r\n'),
  },
  {
    name: 'gets noise in place of HTTP',
    effects: everywhere(BROKEN),
    act: bytes(() => Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46, 0x00, 0xff])),
  },
  {
    name: 'gets headers larger than any that make sense',
    effects: everywhere(BROKEN),
    act: answers(({ headers }) => ({ headers: { ...headers, 'x-large': 'x'.repeat(100_000) } })),
  },
  {
    // The HTTP library treats this as a broken response, as no `Expect: 100-continue` was sent.
    name: 'is told to go on before its answer',
    effects: everywhere(BROKEN),
    act: bytes((all) => Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), all])),
  },
  {
    name: 'is given hints before its answer',
    effects: harmless,
    act: bytes((all) =>
      Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'), all]),
    ),
  },
];
