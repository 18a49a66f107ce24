import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import { type ProxyServer, throughProxy } from '../config/proxy.ts';
import { formatDuration } from '../duration.ts';
import { RunError, TransportError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import type { Answer, Head } from './answer.ts';
import { decompress, readBody } from './body.ts';
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
  /** The way to the service, where it is not direct. */
  readonly proxy?: ProxyServer | undefined;
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
export type Transport = (query: Request, signal: AbortSignal) => Promise<Answer>;

const CONNECT_TIMEOUT_MS = 10_000;

/** The one place that asks the service anything. */
export function createTransport(options: TransportOptions): Transport {
  return async (query: Request, signal: AbortSignal): Promise<Answer> => {
    const deadline = AbortSignal.timeout(options.attemptTimeoutMs);
    let head: Head | undefined;
    const onHead = (arrived: Head): void => {
      head = arrived;
      query.onHead?.(arrived);
    };
    const ended = AbortSignal.any([signal, deadline]);
    const dispatcher = createDispatcher(options);
    try {
      // undici hears of a signal only once a connection stands.
      return await unlessAborted(exchange({ ...query, onHead }, options, dispatcher, ended), ended);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // A failure is one whatever its body is, and what its head says has to be acted upon.
      if (head !== undefined && !isSuccess(head.status)) return { ...head, body: new Uint8Array() };
      const httpStatus = head?.status;
      if (deadline.aborted) throw overtime(query, options, httpStatus);
      if (error instanceof RunError) throw error;
      const { proxy } = options;
      throw describeNetworkFault(error, `${query.method} ${options.baseUrl}${query.path}`, { httpStatus, proxy });
    } finally {
      // Without waiting: what a connection does while it is being made cannot be hurried.
      void dispatcher.destroy().catch(() => undefined);
    }
  };
}

/** One for each request: a connection that waits between polls is a connection that dies between polls. */
function createDispatcher({ proxy, attemptTimeoutMs }: TransportOptions): Dispatcher {
  const common = {
    pipelining: 0,
    allowH2: false,
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, attemptTimeoutMs) },
    // The attempt's own deadline covers both; undici's limits are per chunk and coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return proxy === undefined ? new Agent(common) : new ProxyAgent({ ...common, uri: proxy.address });
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
    return name === 'retry-after' ? value.join('\n') : value[0];
  };
  query.onHead?.({ status: statusCode, header });
  const answered = { what: `${query.method} ${query.path}`, httpStatus: statusCode };
  const limits = { limit: options.maxBodyBytes, length: readLength(header('content-length')) };
  const received = await readBody(body, limits, answered);
  const whole = await decompress(received, header('content-encoding'), options.maxBodyBytes, answered);
  return { status: statusCode, header, body: whole };
}

function readLength(sent: string | undefined): number | undefined {
  return sent !== undefined && /^\d{1,15}$/.test(sent) ? Number(sent) : undefined;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function overtime(
  { method, path }: Request,
  { baseUrl, attemptTimeoutMs, proxy }: TransportOptions,
  httpStatus: number | undefined,
): TransportError {
  return new TransportError(
    'timeout',
    true,
    `${method} ${baseUrl}${path}${throughProxy(proxy)} took longer than ${formatDuration(attemptTimeoutMs)} (LEAGUE_SYNC_ATTEMPT_TIMEOUT).`,
    { httpStatus },
  );
}
