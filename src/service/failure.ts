import { ContractError, StatusError } from '../errors.ts';
import { decodeUtf8, type HttpResponse, isSuccess } from '../http/response.ts';
import { hasTooManyValues, type JsonObject } from '../league/json.ts';
import type { Secrets } from '../redact.ts';
import { escapeControls } from '../terminal/style.ts';
import { formatTimestamp } from '../time/clock.ts';
import type { ServiceConnection, ServiceResponse } from './connection.ts';

const MAX_CONTENT_TYPE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 500;
const MAX_LOCATION_LENGTH = 200;

const WRONG_ADDRESS = 'check that LEAGUE_SYNC_BASE_URL is the address of the service, with its path';

/** The error for a response that is neither a success nor `result=fail`: perhaps it is not the service that answered. */
export function describeUnexpected(
  method: string,
  response: ServiceResponse,
  connection: ServiceConnection,
  json?: JsonObject,
) {
  const { status, url } = response;
  const { scrub } = connection.secrets;
  const name = `${method} ${url}`;
  const details = readFailureDetails(response, json, connection);
  if (isSuccess(status)) {
    const type = escapeControls(scrub(response.header('content-type')?.split(';', 1)[0] ?? 'no content type'));
    const what = json === undefined ? `is ${describeBody(response.body)}` : 'has no result';
    const message = `The response to ${name} (status ${status}, ${type.slice(0, MAX_CONTENT_TYPE_LENGTH)}) ${what}.`;
    return new ContractError(message, { ...details, fix: WRONG_ADDRESS });
  }
  if (status >= 300 && status < 400 && status !== 304) {
    const message = `${name} was redirected (status ${status})${describeLocation(response, scrub)}, and redirects are not followed, so that credentials are not sent elsewhere.`;
    return new StatusError(false, message, { ...details, fix: 'check LEAGUE_SYNC_BASE_URL' });
  }
  return new StatusError(false, `${name} was answered with status ${status}.`, { ...details, fix: WRONG_ADDRESS });
}

/** For a message; empty if unreadable, or with a secret in it. Parsing decodes the host, so both texts are searched. */
function describeLocation({ header, url }: ServiceResponse, scrub: Secrets['scrub']): string {
  const location = header('location') ?? '';
  const target = location === '' ? null : URL.parse(location, url);
  const text = target && `${target.origin}${target.pathname}`;
  if (text === null || scrub(`${location} ${text}`) !== `${location} ${text}`) return '';
  return ` to ${text.slice(0, MAX_LOCATION_LENGTH)}`;
}

function describeBody(body: Uint8Array): string {
  if (body.length === 0) return 'an empty body';
  const text = decodeUtf8(body);
  if (text === undefined) return 'not valid UTF-8';
  if (/^\s*</.test(text)) return 'an HTML page';
  return hasTooManyValues(body) ? 'JSON with millions of tiny values' : 'not a JSON object';
}

export function readMessage(body: JsonObject | undefined, scrub: Secrets['scrub']): string | undefined {
  const message = body?.message;
  return typeof message === 'string' ? scrub(message).slice(0, MAX_MESSAGE_LENGTH) : undefined;
}

/** Details for the error about a failed response. Also puts its `Retry-After` into effect, for any status. */
export function readFailureDetails(
  response: HttpResponse,
  body: JsonObject | undefined,
  connection: ServiceConnection,
) {
  const { secrets, retryAfter } = connection;
  const serviceMessage = readMessage(body, secrets.scrub);
  if (response.notBefore !== undefined) retryAfter.extend(response.notBefore);
  const notBefore = response.notBefore === undefined ? undefined : retryAfter.until() || undefined;
  const message = serviceMessage === undefined ? '' : ` It says: "${escapeControls(serviceMessage)}".`;
  const wait = notBefore && ` It asks not to be called before ${formatTimestamp(notBefore)} (Retry-After).`;
  return { httpStatus: response.status, serviceMessage, notBefore, quoted: message + (wait ?? '') + response.via };
}
