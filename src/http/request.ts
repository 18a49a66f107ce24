import { unescape as decodePercents } from 'node:querystring';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Agent, type Dispatcher, Pool, ProxyAgent, request as send } from 'undici';
import { describeProxy, type ProxyServer } from '../config/proxy.ts';
import { ContractError, RunError, TransportError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { unlessAborted } from '../race-abort.ts';
import { formatDuration, formatSize } from '../time/duration.ts';
import { describeNetworkError } from './network-error.ts';
import { type HttpResponse, isSuccess, type ResponseHead } from './response.ts';

/** A request to the service, the monitoring service, the receiver of webhooks or a worker. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** The request's name in messages, since its URL may be a secret. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly proxy?: ProxyServer | undefined;
  /** Limits the time from connecting to the last byte of the body. */
  readonly timeoutMs: number;
  /** Limits the size of the body after decompression. */
  readonly maxBodyBytes: number;
  /** If true, nothing about the body is an error: it is not decompressed, is truncated, and empty if unreadable. */
  readonly isBodyOptional?: boolean;
  /** Called before the body is read. */
  readonly onHead?: ((head: ResponseHead) => void) | undefined;
  /** Called with each part of the body, with the size so far after decompression. */
  readonly onBytes?: ((size: number) => void) | undefined;
};

const CONNECT_TIMEOUT_MS = 10_000;
/** How many addresses of a name may not answer before there is no time left to try the next one. */
const ADDRESSES_TRIED = 3;

export type SendRequest = typeof sendRequest;

/**
 * Sends one request and reads the whole response; never retries and never follows a redirect. Rejects with a
 * TransportError, a ContractError (body too large or in an encoding that was not requested) or the signal's reason. If
 * the body cannot be read and does not matter (`isBodyOptional`, or a status that is not 2xx), resolves with an empty body.
 */
export async function sendRequest(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  const { name, proxy, timeoutMs, isBodyOptional = false } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([signal, timeout]);
  const dispatcher = createDispatcher(request);
  let head: ResponseHead | undefined;
  const onHead = (received: ResponseHead): void => {
    head = received;
    request.onHead?.(received);
  };
  try {
    // undici ignores the signal until the connection is established.
    return await unlessAborted(exchange({ ...request, onHead }, dispatcher, ended), ended);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A response whose status is not 2xx needs no body: its status and Retry-After are enough.
    if (head !== undefined && (isBodyOptional || !isSuccess(head.status))) return { ...head, body: new Uint8Array() };
    const httpStatus = head?.status;
    if (timeout.aborted) {
      const message = `${name}${describeProxy(proxy)} took longer than ${formatDuration(timeoutMs)} (LEAGUE_SYNC_ATTEMPT_TIMEOUT).`;
      throw new TransportError('timeout', true, message, { httpStatus });
    }
    throw error instanceof RunError ? error : describeNetworkError(error, name, { httpStatus, proxy });
  } finally {
    // Not awaited, because undici would wait for a connection that is still being established.
    void dispatcher.destroy().catch(() => undefined);
  }
}

/** The address without user information and fragment, and the header that user information is sent in. */
export function splitAddress(url: URL): { readonly address: URL; readonly headers: Readonly<Record<string, string>> } {
  const address = new URL(url);
  address.username = '';
  address.password = '';
  address.hash = '';
  if (url.username === '' && url.password === '') return { address, headers: {} };
  const pair = `${decodePercents(url.username)}:${decodePercents(url.password)}`;
  return { address, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

/** Each request has its own dispatcher, since a connection that is kept open would not survive until the next poll. */
function createDispatcher({ proxy, timeoutMs }: HttpRequest): Dispatcher {
  const timeout = Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
  // Node's own limit for each address but the last is 250 ms, too short for a distant server.
  const connect = { timeout, autoSelectFamilyAttemptTimeout: Math.ceil(timeout / ADDRESSES_TRIED) };
  // These timeouts of undici are off, since `timeoutMs` covers the whole request.
  const unlimited = { headersTimeout: 0, bodyTimeout: 0 };
  const options = { pipelining: 0, allowH2: false, ...unlimited };
  if (proxy === undefined) return new Agent({ ...options, connect });
  // A ProxyAgent does not pass its timeouts on to the connection to the proxy.
  const factory = (origin: URL, given: object): Dispatcher => new Pool(origin, { ...given, ...unlimited });
  return new ProxyAgent({ ...options, uri: proxy.address, proxyTls: connect, factory, clientFactory: factory });
}

async function exchange(request: HttpRequest, dispatcher: Dispatcher, signal: AbortSignal): Promise<HttpResponse> {
  const { method, url, proxy, onHead } = request;
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
    return name === 'retry-after' ? value.join(', ') : value[0];
  };
  const itself = url.startsWith('http:') ? ', which may have made it itself' : '';
  const via = proxy === undefined ? '' : ` The response came${describeProxy(proxy)}${itself}.`;
  const head = { status: response.statusCode, header, via };
  onHead?.(head);
  return { ...head, body: await readBody(response.body, request, head) };
}

async function readBody(body: Readable, request: HttpRequest, { status, header }: ResponseHead): Promise<Uint8Array> {
  const { maxBodyBytes, isBodyOptional, onBytes } = request;
  const name = `${request.name}${describeProxy(request.proxy)}`;
  const read = async (source: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of source) {
      chunks.push(chunk);
      size += chunk.length;
      onBytes?.(size);
      if (size <= maxBodyBytes) continue;
      if (isBodyOptional) break;
      const fix = 'raise LEAGUE_SYNC_MAX_BODY if this size is expected';
      const message = `The response to ${name} is larger than ${formatSize(maxBodyBytes)}.`;
      throw new ContractError(message, { httpStatus: status, fix });
    }
    return Buffer.concat(chunks, Math.min(size, maxBodyBytes));
  };
  const encoding = header('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity' || isBodyOptional) return read(body);
  const decoder = encoding === 'gzip' ? createGunzip() : encoding === 'br' ? createBrotliDecompress() : undefined;
  if (decoder === undefined) {
    const message = `The response to ${name} has an encoding that was not requested.`;
    throw new ContractError(message, { httpStatus: status });
  }
  return pipeline(body, decoder, read);
}
