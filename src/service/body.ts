import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { formatSize } from '../duration.ts';
import { ContractError, codeOf, TransportError } from '../errors.ts';

/** A request whose answer has begun. */
export type Answered = { readonly what: string; readonly httpStatus: number };

/**
 * Reads a body to its end, into one piece of memory where its length was said. Rejects with a ContractError where it is
 * larger than the limit.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  { limit, length }: { readonly limit: number; readonly length: number | undefined },
  answered: Answered,
): Promise<Uint8Array> {
  const whole = length === undefined || length > limit ? undefined : Buffer.allocUnsafeSlow(length);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (size + chunk.length > limit) throw tooLarge(answered, limit);
    if (whole === undefined) chunks.push(chunk);
    else whole.set(chunk, size);
    size += chunk.length;
  }
  return whole?.subarray(0, size) ?? Buffer.concat(chunks, size);
}

type Decode = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', (body, options) => (isZlib(body) ? promisify(inflate) : promisify(inflateRaw))(body, options)],
  ['br', promisify(brotliDecompress)],
]);

/** Some servers send bare deflate data under that name, which HTTP gives to the zlib format. */
function isZlib(body: Uint8Array): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}

/** Rejects with a ContractError where the body is larger than the limit once it is decompressed. */
export async function decompress(
  body: Uint8Array,
  encoding: string | undefined,
  limit: number,
  answered: Answered,
): Promise<Uint8Array> {
  const coding = encoding?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === '' || body.length === 0) return body;
  const decode = DECODERS.get(coding);
  const { what, httpStatus } = answered;
  if (decode === undefined) {
    throw new ContractError(`The answer to ${what} has an encoding that was not asked for.`, { httpStatus });
  }
  try {
    return await decode(body, { maxOutputLength: limit });
  } catch (cause) {
    if (codeOf(cause) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(answered, limit);
    throw new TransportError('network', true, `The answer to ${what} arrived damaged (${coding}).`, {
      cause,
      httpStatus,
    });
  }
}

function tooLarge({ what, httpStatus }: Answered, limit: number): ContractError {
  return new ContractError(`The answer to ${what} is larger than ${formatSize(limit)}.`, {
    httpStatus,
    fix: 'raise LEAGUE_SYNC_MAX_BODY if that is right',
  });
}
