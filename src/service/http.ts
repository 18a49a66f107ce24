import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type BrotliDecompress, createBrotliDecompress, createGunzip, type Gunzip } from 'node:zlib';
import { Agent, type Dispatcher, ProxyAgent, request as send } from 'undici';
import { type ProxyServer, throughProxy } from '../config/proxy.ts';
import { formatDuration, formatSize } from '../duration.ts';
import { ContractError, codeOf, RunError, TransportError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { unlessAborted } from '../race-abort.ts';
import { describeNetworkError } from './network-error.ts';
import { type HttpResponse, isSuccess, type ResponseHead } from './response.ts';

/** A request to the service, the monitoring service or a worker. */
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
  return { ...head, body: await readBody(response.body, request, head) };
}

type Decoder = Gunzip | BrotliDecompress;

/** What a body is decoded by, for each coding that is asked for. */
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map<string, () => Decoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
]);

/** Reads a body to its end, or as far as it is wanted; of one that is compressed, what it becomes is what counts. */
async function readBody(body: Readable, request: HttpRequest, { status, header }: ResponseHead): Promise<Uint8Array> {
  const { name, maxBodyBytes, cutsBody } = request;
  const read = async (source: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of source) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBodyBytes) continue;
      if (cutsBody) break;
      const fix = 'raise LEAGUE_SYNC_MAX_BODY if that is right';
      const message = `The answer to ${name} is larger than ${formatSize(maxBodyBytes)}.`;
      throw new ContractError(message, { httpStatus: status, fix });
    }
    return Buffer.concat(chunks, Math.min(size, maxBodyBytes));
  };
  const coding = header('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity' || cutsBody) return read(body);
  const decoder = DECODERS.get(coding)?.();
  if (decoder === undefined) {
    const message = `The answer to ${name} has an encoding that was not asked for.`;
    throw new ContractError(message, { httpStatus: status });
  }
  return pipeline(body, decoder, read).catch((error: unknown) => {
    // Nothing is no compressed form of anything, and is sent with this header all the same.
    if (decoder.bytesWritten === 0 && codeOf(error) === 'Z_BUF_ERROR') return new Uint8Array();
    throw error;
  });
}
