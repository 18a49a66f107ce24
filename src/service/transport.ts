import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { isLoopback } from '../config/loopback.ts';
import { ContractError, codeOf, RunError, TransportError } from '../errors.ts';
import type { Answer, Head } from './answer.ts';
import { describeNetworkFault } from './transport-fault.ts';

/** One request, relative to {base_url}. */
export type Request = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Called as soon as the head of the answer is there, whatever then becomes of its body. */
  readonly onHead?: (head: Head) => void;
};

export type TransportOptions = {
  readonly baseUrl: string;
  /** Limit for one request from connecting to the last byte of the body. */
  readonly attemptTimeoutMs: number;
  /** Limit for a body after decompression. */
  readonly maxBodyBytes: number;
  /** Name and version of this program. */
  readonly userAgent: string;
};

/**
 * Sends one request and reads the whole answer; never retries, never follows a redirect. Rejects with a
 * TransportError, a ContractError (body over the limit), or the reason of the signal that aborted it.
 */
export type Transport = ((query: Request, signal: AbortSignal) => Promise<Answer>) & AsyncDisposable;

const CONNECT_TIMEOUT_MS = 10_000;

/** The one place that knows undici. */
export function createTransport(options: TransportOptions): Transport {
  const dispatcher = createDispatcher(options);
  const send = async (query: Request, signal: AbortSignal): Promise<Answer> => {
    const deadline = AbortSignal.timeout(options.attemptTimeoutMs);
    let httpStatus: number | undefined;
    const onHead = (head: Head): void => {
      httpStatus = head.status;
      query.onHead?.(head);
    };
    try {
      return await exchange({ ...query, onHead }, options, dispatcher, AbortSignal.any([signal, deadline]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (deadline.aborted) throw overtime(query, options, httpStatus);
      if (error instanceof RunError) throw error;
      throw describeNetworkFault(error, `${query.method} ${options.baseUrl}${query.path}`, httpStatus);
    }
  };
  return Object.assign(send, { [Symbol.asyncDispose]: () => dispatcher.destroy() });
}

function createDispatcher({ baseUrl, attemptTimeoutMs }: TransportOptions): Dispatcher {
  const common = {
    // A connection that waits between polls is a connection that dies between polls: each request has its own.
    pipelining: 0,
    allowH2: false,
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, attemptTimeoutMs) },
    // The attempt's own deadline covers both; undici's limits are per chunk and coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return isLoopback(new URL(baseUrl).hostname) ? new Agent(common) : new EnvHttpProxyAgent(common);
}

async function exchange(
  query: Request,
  options: TransportOptions,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Answer> {
  const { statusCode, headers, body } = await request(`${options.baseUrl}${query.path}`, {
    dispatcher,
    signal,
    method: query.method,
    headers: {
      'user-agent': options.userAgent,
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      ...query.headers,
    },
    body: query.body ?? null,
  });
  const header = (name: string): string | undefined => {
    const value = headers[name];
    if (!Array.isArray(value)) return value;
    return name === 'retry-after' ? value.join(', ') : value[0];
  };
  query.onHead?.({ status: statusCode, header });
  try {
    const answered = { what: `${query.method} ${query.path}`, httpStatus: statusCode };
    const received = await readBody(body, options.maxBodyBytes, answered);
    const whole = await decompress(received, header('content-encoding'), options.maxBodyBytes, answered);
    return { status: statusCode, header, body: whole };
  } catch (error) {
    // A failure is one whatever its body is, and what its status says has to be acted upon.
    if (signal.aborted || isSuccess(statusCode)) throw error;
    return { status: statusCode, header, body: new Uint8Array() };
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** A request whose answer has begun. */
type Answered = { readonly what: string; readonly httpStatus: number };

async function readBody(body: AsyncIterable<Uint8Array>, limit: number, answered: Answered): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw tooLarge(answered, limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const DECODERS: Readonly<Record<string, (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>>> =
  {
    gzip: promisify(gunzip),
    'x-gzip': promisify(gunzip),
    deflate: (body, options) => (isZlib(body) ? promisify(inflate) : promisify(inflateRaw))(body, options),
    br: promisify(brotliDecompress),
  };

/** Some servers send bare deflate data under that name, which HTTP gives to the zlib format. */
function isZlib(body: Uint8Array): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}

async function decompress(
  body: Uint8Array,
  encoding: string | undefined,
  limit: number,
  answered: Answered,
): Promise<Uint8Array> {
  const coding = encoding?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === '' || body.length === 0) return body;
  const decode = DECODERS[coding];
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
  return new ContractError(
    `The answer to ${what} is larger than ${limit} bytes; raise LEAGUE_SYNC_MAX_BODY if that is right.`,
    { httpStatus },
  );
}

function overtime(
  { method, path }: Request,
  { baseUrl, attemptTimeoutMs }: TransportOptions,
  httpStatus: number | undefined,
): TransportError {
  return new TransportError(
    'timeout',
    true,
    `${method} ${baseUrl}${path} took longer than ${attemptTimeoutMs} ms (LEAGUE_SYNC_ATTEMPT_TIMEOUT).`,
    { httpStatus },
  );
}
