import type { Config } from '../config/config.ts';
import { RetryAfterError } from '../errors.ts';
import { type HttpRequest, type SendRequest, sendRequest } from '../http/request.ts';
import type { HttpResponse, ResponseHead } from '../http/response.ts';
import { type RetryAfter, readRetryAfter } from '../http/retry-after.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';

/** A request whose path is appended to the base URL. */
export type ServiceRequest = Pick<HttpRequest, 'method' | 'body' | 'onHead'> & {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A response of the service, with the address that was asked. */
export type ServiceResponse = HttpResponse & { readonly url: string };

/** Rejects like `sendRequest`. A transport made by `withRetryAfter` may also reject with a RetryAfterError. */
export type Transport = (request: ServiceRequest, signal: AbortSignal) => Promise<ServiceResponse>;

export function createTransport(
  config: Pick<Config, 'baseUrl' | 'proxy' | 'attemptTimeoutMs' | 'maxBodyBytes'>,
  send: SendRequest = sendRequest,
): Transport {
  const { baseUrl, proxy, attemptTimeoutMs: timeoutMs, maxBodyBytes } = config;
  return async ({ path, headers, ...request }, signal) => {
    const url = `${baseUrl}${path}`;
    const accepted = { accept: 'application/json', 'accept-encoding': 'gzip, br' };
    const options = { url, name: `${request.method} ${url}`, proxy, timeoutMs, maxBodyBytes };
    return { ...(await send({ ...request, ...options, headers: { ...accepted, ...headers } }, signal)), url };
  };
}

/** Rejects each request during a `Retry-After` with a RetryAfterError, and reads that header from each response. */
export function withRetryAfter(transport: Transport, retryAfter: RetryAfter, clock: Clock): Transport {
  return async (request, signal) => {
    const until = retryAfter.until();
    if (until > 0) {
      const message = `The service asked not to be called before ${formatTimestamp(until)} (Retry-After); nothing is sent until then.`;
      throw new RetryAfterError(true, message, { notBefore: until });
    }
    let notBefore: number | undefined;
    const onHead = (head: ResponseHead): void => {
      notBefore = readRetryAfter(head, clock.now());
      // Applied before the body arrives, but not for a 2xx: only the body tells whether a 2xx is a failure.
      if (notBefore !== undefined && head.status >= 300) retryAfter.extend(notBefore);
    };
    try {
      return { ...(await transport({ ...request, onHead }, signal)), notBefore };
    } catch (error) {
      // A 2xx whose body is incomplete is a failure, too.
      if (notBefore !== undefined) retryAfter.extend(notBefore);
      throw error;
    }
  };
}
