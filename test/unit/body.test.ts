import { expect, it } from 'vitest';
import { ContractError } from '../../src/errors.ts';
import { readBody } from '../../src/service/body.ts';

const ANSWERED = { what: 'GET /', httpStatus: 200 };

async function* sent(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

it.each([
  ['is not said', undefined],
  ['is said', 6],
  ['is said to be over the limit', 1_000],
  ['is said to be more than comes', 8],
])('a body whose length %s is read whole', async (_, length) => {
  const body = await readBody(sent('ab', '', 'cdef'), { limit: 8, length }, ANSWERED);
  expect(Buffer.from(body).toString()).toBe('abcdef');
});

it('a body that is said to be empty is', async () => {
  expect(await readBody(sent(), { limit: 8, length: 0 }, ANSWERED)).toHaveLength(0);
});

it.each([undefined, 9])('a body over the limit is refused, whatever its length is said to be (%s)', async (length) => {
  const read = readBody(sent('abcd', 'efgh', 'i'), { limit: 8, length }, ANSWERED);
  await expect(read).rejects.toThrow(ContractError);
});

it('no more is read of a body than shows that it is too large', async () => {
  let read = 0;
  const endless = async function* () {
    for (;;) {
      read += 1;
      yield Buffer.from('abcd');
    }
  };
  await expect(readBody(endless(), { limit: 8, length: undefined }, ANSWERED)).rejects.toThrow(ContractError);
  expect(read).toBe(3);
});

it('no memory is taken for more than the limit, whatever is said', async () => {
  const body = await readBody(sent('ab'), { limit: 8, length: Number.MAX_SAFE_INTEGER }, ANSWERED);
  expect(Buffer.from(body).toString()).toBe('ab');
});
