import { describeProxy, type ProxyServer } from '../config/proxy.ts';
import { codeOf, TransportError } from '../errors.ts';
import { isTransient } from './response.ts';

/** Explanations of the error codes of Node and undici; the first entry that matches is used. */
const EXPLANATIONS: readonly (readonly [codes: RegExp, problem: string, fix?: string])[] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host name cannot be resolved', 'check LEAGUE_SYNC_BASE_URL and DNS'],
  [/^ECONNREFUSED$/, 'the connection was refused', 'check LEAGUE_SYNC_BASE_URL, and that the service is running'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_PRX_CONN)$/, 'the connection broke before the response was complete'],
  [/^(ENETUNREACH|EHOSTUNREACH|EHOSTDOWN|ENETDOWN|EINVAL)$/, 'there is no route to the host'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the connection timed out'],
  [
    /^CERT_HAS_EXPIRED$/,
    'its TLS certificate has expired',
    'check the clock of this machine, and ask the operator of the service to renew the certificate',
  ],
  [/^CERT_NOT_YET_VALID$/, 'its TLS certificate is not valid yet', 'check the clock of this machine'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its TLS certificate is for another host name', 'check LEAGUE_SYNC_BASE_URL'],
  [/^UND_ERR_PRX_TLS$/, 'the TLS certificate of the proxy is not for its host name'],
  [
    /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/,
    'its TLS certificate is not signed by a trusted authority',
    'set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority',
  ],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'the server does not speak TLS on this port',
    'check whether LEAGUE_SYNC_BASE_URL should begin with http, or name another port',
  ],
  [/^(ERR_TLS|ERR_SSL)/, 'client and server have no TLS version or cipher in common'],
  [/^(Z_|ERR_BROTLI|ERR__ERROR)/, 'the compressed response is damaged'],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, 'the response length does not match its Content-Length'],
  [/^(HPE_|HTTPParserError|ERR_ASSERTION)/, 'the server does not speak HTTP', 'check LEAGUE_SYNC_BASE_URL'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'the response headers are too large'],
];

/** If a proxy is used, these entries come first, since the connection is made to the proxy. */
const PROXY_EXPLANATIONS: typeof EXPLANATIONS = [
  [/^status 407$/, 'the proxy refused it', 'add the username and password of the proxy to its address'],
  [/^status /, 'the proxy refused it'],
  [
    /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    'the proxy cannot be reached',
    'check its address, and that it is running there',
  ],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'the server does not speak TLS on this port',
    'check whether the address of the proxy, or LEAGUE_SYNC_BASE_URL, should begin with http',
  ],
];

/** TLS problems that a retry cannot solve. */
const PERMANENT = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO|UND_ERR_PRX_TLS)/;

/** Explains an error of Node or undici. `httpStatus` is set if the error came after the head of a response. */
export function describeNetworkError(
  error: unknown,
  request: string,
  { httpStatus, proxy }: { readonly httpStatus?: number | undefined; readonly proxy?: ProxyServer | undefined } = {},
): TransportError {
  const root = rootCodeOf(error);
  const proxyStatus = proxy && proxyStatusOf(error, root);
  const code = proxyStatus === undefined ? root : `status ${proxyStatus}`;
  const known = [...(proxy ? PROXY_EXPLANATIONS : []), ...EXPLANATIONS].find(([codes]) => codes.test(code));
  const [, problem, fix] = known ?? [code, 'the connection failed'];
  const retryable = proxyStatus === undefined ? !PERMANENT.test(code) : isTransient(proxyStatus);
  const kind = /TIMEDOUT|TIMEOUT/.test(code) ? 'timeout' : 'network';
  const message = `${request}${describeProxy(proxy)} failed: ${problem} (${code}).`;
  return new TransportError(kind, retryable, message, { cause: withoutDetails(error, code), httpStatus, fix });
}

/** The status with which a proxy refused the request; undici gives it only in its error message. */
function proxyStatusOf(error: unknown, code: string): number | undefined {
  if (!(error instanceof Error) || !/^UND_ERR_(ABORTED|INVALID_ARG)$/.test(code)) return undefined;
  const status = /Proxy.*\((\d{3})\)/.exec(error.message)?.[1];
  return status === undefined ? undefined : Number(status);
}

function rootCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof AggregateError && error.errors[0] !== undefined) return rootCodeOf(error.errors[0]);
  return codeOf(error) || (error.cause instanceof Error ? rootCodeOf(error.cause) : error.name);
}

/** A copy with only name, stack and code, since errors of libraries may contain requests and responses with tokens. */
function withoutDetails(error: unknown, code: string): unknown {
  if (!(error instanceof Error)) return undefined;
  return Object.assign(new Error(code), { name: error.name, stack: error.stack, code });
}
