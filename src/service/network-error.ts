import { type ProxyServer, throughProxy } from '../config/proxy.ts';
import { codeOf, TransportError } from '../errors.ts';
import { isTransient } from './response.ts';

type Fault = {
  readonly what: string;
  /** What to do about it, if more can be said than to look at the address and the network. */
  readonly fix?: string;
  /** Where there is a proxy, it is the proxy that this says something about. */
  readonly atProxy?: { readonly what: string; readonly fix?: string };
  readonly permanent?: boolean;
};

/** What a broken connection means, by the code that Node or undici gives it. The first match counts. */
const FAULTS: readonly (Fault & { readonly codes: RegExp })[] = [
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    what: 'the host name cannot be resolved',
    fix: 'check LEAGUE_SYNC_BASE_URL and DNS',
    atProxy: { what: 'the host name of the proxy cannot be resolved', fix: 'check it, and DNS' },
  },
  {
    codes: /^ECONNREFUSED$/,
    what: 'the connection was refused',
    fix: 'check LEAGUE_SYNC_BASE_URL, and whether the service is running there',
    atProxy: { what: 'the connection to the proxy was refused', fix: 'check whether it is running there' },
  },
  { codes: /^UND_ERR_PRX_CONN$/, what: 'the connection to the proxy broke' },
  { codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, what: 'the connection broke before the answer was complete' },
  {
    codes: /^(ENETUNREACH|EHOSTUNREACH|EHOSTDOWN|ENETDOWN|EINVAL)$/,
    what: 'there is no route to the host',
    atProxy: { what: 'there is no route to the proxy' },
  },
  {
    codes: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    what: 'no connection could be made in time',
    atProxy: { what: 'no connection to the proxy could be made in time' },
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    what: 'its TLS certificate has expired',
    fix: 'check the clock of this machine, and ask the operator of the service to renew it',
    permanent: true,
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    what: 'its TLS certificate is not valid yet',
    fix: 'check the clock of this machine',
    permanent: true,
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    what: 'its TLS certificate is for another host name',
    fix: 'check LEAGUE_SYNC_BASE_URL',
    permanent: true,
  },
  { codes: /^UND_ERR_PRX_TLS$/, what: 'the TLS certificate of the proxy is not for its host name', permanent: true },
  {
    codes: /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/,
    what: 'its TLS certificate is signed by nobody that is trusted here',
    fix: 'name its authority in NODE_EXTRA_CA_CERTS',
    permanent: true,
  },
  {
    codes: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    what: 'the server does not speak TLS on this port',
    fix: 'check whether LEAGUE_SYNC_BASE_URL should begin with http, or name another port',
    atProxy: {
      what: 'the server does not speak TLS on this port',
      fix: 'check whether the proxy, or LEAGUE_SYNC_BASE_URL, should begin with http',
    },
    permanent: true,
  },
  { codes: /^(ERR_TLS|ERR_SSL)/, what: 'the two sides found no common TLS', permanent: true },
  { codes: /^(Z_|ERR_BROTLI|ERR__ERROR)/, what: 'the answer arrived damaged' },
  { codes: /^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, what: 'the answer was shorter or longer than it said' },
  {
    codes: /^(HPE_|HTTPParserError|ERR_ASSERTION)/,
    what: 'what answers there does not speak HTTP',
    fix: 'check LEAGUE_SYNC_BASE_URL',
  },
  { codes: /^UND_ERR_HEADERS_OVERFLOW$/, what: 'its headers are larger than any that make sense' },
];

type Circumstances = {
  /** Of the response, if it had begun. */
  readonly httpStatus?: number | undefined;
  readonly proxy?: ProxyServer | undefined;
};

/** Turns what undici threw into an error of ours; the library's message is not repeated, only its code. */
export function describeNetworkError(
  error: unknown,
  request: string,
  { httpStatus, proxy }: Circumstances = {},
): TransportError {
  const code = deepCodeOf(error);
  const found: Fault | undefined = (proxy && findRefusal(error, code)) ?? FAULTS.find(({ codes }) => codes.test(code));
  const { what, fix } = (proxy && found?.atProxy) ?? found ?? { what: 'the connection failed' };
  const kind = /TIMEDOUT|TIMEOUT/.test(code) ? 'timeout' : 'network';
  const message = `${request}${throughProxy(proxy)} failed: ${what} (${code}).`;
  return new TransportError(kind, found?.permanent !== true, message, { cause: bare(error, code), httpStatus, fix });
}

/** undici says only in its message with which status a proxy refused. */
function findRefusal(error: unknown, code: string): Fault | undefined {
  if (!(error instanceof Error) || !/^UND_ERR_(ABORTED|INVALID_ARG)$/.test(code)) return undefined;
  const status = Number(/Proxy.*\((\d{3})\)/.exec(error.message)?.[1]);
  if (Number.isNaN(status)) return undefined;
  return {
    what: `the proxy refused it with status ${status}`,
    ...(status === 407 ? { fix: 'give the proxy the credentials that it wants' } : {}),
    permanent: !isTransient(status),
  };
}

function deepCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof AggregateError && error.errors[0] !== undefined) return deepCodeOf(error.errors[0]);
  return codeOf(error) || (error.cause instanceof Error ? deepCodeOf(error.cause) : error.name);
}

/** Errors of libraries carry requests and pieces of answers, and with them tokens. */
function bare(error: unknown, code: string): unknown {
  if (!(error instanceof Error)) return undefined;
  return Object.assign(new Error(code), { name: error.name, stack: error.stack, code });
}
