import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { Agent, type Dispatcher, ProxyAgent, request as send } from 'undici';
import { type ProxyServer, throughProxy } from '../config/proxy.ts';
import { formatDuration, formatSize } from '../duration.ts';
import { ContractError, codeOf, RunError, TransportError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { unlessAborted } from '../race-abort.ts';
import { describeNetworkError } from './network-error.ts';
import { type HttpResponse, isSuccess, type ResponseHead } from './response.ts';

/** A request to anybody: the service, or whoever else is called. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** What messages call it. The address itself may be a secret. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly proxy?: ProxyServer | undefined;
  /** Limit from connecting to the last byte of the body. */
  readonly timeoutMs: number;
  /** Limit of the body, after decompression. */
  readonly maxBodyBytes: number;
  /** The rest of a body beyond the limit is left unread, and is no failure. */
  readonly cutsBody?: boolean;
  /** Called as soon as the head of the response is there, whatever becomes of its body. */
  readonly onHead?: ((head: ResponseHead) => void) | undefined;
};

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Sends one request and reads the whole response; never retries, never follows a redirect. Rejects with a
 * TransportError, a ContractError (body over the limit), or the reason of the signal that aborted it.
 */
export async function sendRequest(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  const { name, proxy, timeoutMs } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([signal, timeout]);
  const dispatcher = createDispatcher(request);
  let head: ResponseHead | undefined;
  const onHead = (arrived: ResponseHead): void => {
    head = arrived;
    request.onHead?.(arrived);
  };
  try {
    // undici hears of a signal only once a connection stands.
    return await unlessAborted(exchange({ ...request, onHead }, dispatcher, ended), ended);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A failure is one whatever its body is, and what its head says has to be acted upon.
    if (head !== undefined && !isSuccess(head.status)) return { ...head, body: new Uint8Array() };
    const httpStatus = head?.status;
    if (timeout.aborted) {
      const limit = `${formatDuration(timeoutMs)} (LEAGUE_SYNC_ATTEMPT_TIMEOUT)`;
      throw new TransportError('timeout', true, `${name}${throughProxy(proxy)} took longer than ${limit}.`, {
        httpStatus,
      });
    }
    throw error instanceof RunError ? error : describeNetworkError(error, name, { httpStatus, proxy });
  } finally {
    // Without waiting: what a connection does while it is being made cannot be hurried.
    void dispatcher.destroy().catch(() => undefined);
  }
}

/** One for each request: a connection that waits between polls is a connection that dies between polls. */
function createDispatcher({ proxy, timeoutMs }: HttpRequest): Dispatcher {
  const common = {
    pipelining: 0,
    allowH2: false,
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs) },
    // The request's own limit covers both; undici's are per chunk and coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return proxy === undefined ? new Agent(common) : new ProxyAgent({ ...common, uri: proxy.address });
}

async function exchange(request: HttpRequest, dispatcher: Dispatcher, signal: AbortSignal): Promise<HttpResponse> {
  const { method, url, onHead } = request;
  const response = await send(url, {
    dispatcher,
    signal,
    method,
    headers: { 'user-agent': `league-sync/${findPackage().version}`, ...request.headers },
    body: request.body ?? null,
  });
  const header = (name: string): string | undefined => {
    const value = response.headers[name];
    if (!Array.isArray(value)) return value;
    return name === 'retry-after' ? value.join('\n') : value[0];
  };
  const head = { status: response.statusCode, header };
  onHead?.(head);
  const received = await readBody(response.body, request, head);
  return { ...head, body: request.cutsBody ? received : await decompress(received, request, head) };
}

async function readBody(
  body: AsyncIterable<Uint8Array>,
  request: HttpRequest,
  { status }: ResponseHead,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= request.maxBodyBytes) continue;
    if (request.cutsBody) break;
    throw tooLarge(request, status);
  }
  return Buffer.concat(chunks, Math.min(size, request.maxBodyBytes));
}

type Decode = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Some servers send bare deflate data under that name, which HTTP gives to the zlib format. */
const decodeDeflate: Decode = (body, options) => {
  const isZlib = ((body[0] ?? 0) & 0x0f) === 8;
  return promisify(isZlib ? inflate : inflateRaw)(body, options);
};

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', decodeDeflate],
  ['br', promisify(brotliDecompress)],
]);

async function decompress(
  body: Uint8Array,
  request: HttpRequest,
  { status: httpStatus, header }: ResponseHead,
): Promise<Uint8Array> {
  const coding = header('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === 'identity' || coding === '' || body.length === 0) return body;
  const decode = DECODERS.get(coding);
  if (decode === undefined) {
    throw new ContractError(`The answer to ${request.name} has an encoding that was not asked for.`, { httpStatus });
  }
  try {
    return await decode(body, { maxOutputLength: request.maxBodyBytes });
  } catch (cause) {
    if (codeOf(cause) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(request, httpStatus);
    const message = `The answer to ${request.name} arrived damaged (${coding}).`;
    throw new TransportError('network', true, message, { cause, httpStatus });
  }
}

function tooLarge({ name, maxBodyBytes }: HttpRequest, httpStatus: number): ContractError {
  return new ContractError(`The answer to ${name} is larger than ${formatSize(maxBodyBytes)}.`, {
    httpStatus,
    fix: 'raise LEAGUE_SYNC_MAX_BODY if that is right',
  });
}
