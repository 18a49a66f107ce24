import { isUtf8 } from 'node:buffer';
import { formatInstant } from '../clock.ts';
import { ContractError } from '../errors.ts';
import { isMostlyNothing, isObject, type JsonObject, parseJson } from '../json.ts';
import type { Secrets } from '../redact.ts';
import { visible } from '../terminal/style.ts';
import { yieldToEventLoop } from '../yield.ts';
import type { RetryAfter } from './retry-after.ts';

/** What comes before the body. */
export type ResponseHead = {
  readonly status: number;
  /** A header; the first one if it was sent several times, but a line for each `retry-after`. */
  readonly header: (name: string) => string | undefined;
};

/** What came back, whole: a body is read to its end before a response counts. */
export type HttpResponse = ResponseHead & {
  /** The body, decompressed. */
  readonly body: Uint8Array;
  /** Instant (ms) that a `Retry-After` named when the head came. */
  readonly notBefore?: number | undefined;
};

/** Content types are short; this one may be anything. */
const LONGEST_TYPE = 100;
/** Longest piece of the service's own words that is kept. */
const LONGEST_MESSAGE = 500;

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** The statuses that pass by themselves. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status <= 599);
}

/**
 * The body as a JSON object, or undefined if it is anything else. `clean` sees the text before it is parsed. Each step
 * takes tens of milliseconds if there are tens of megabytes, so others have their turn in between.
 */
export async function readObject(
  { body }: Pick<HttpResponse, 'body'>,
  clean = (text: string): string => text,
  signal?: AbortSignal,
): Promise<JsonObject | undefined> {
  if (isMostlyNothing(body)) return undefined;
  await yieldToEventLoop(signal);
  const text = decode(body);
  if (text === undefined) return undefined;
  const cleaned = clean(text);
  await yieldToEventLoop(signal);
  try {
    const value = parseJson(cleaned);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Why a body is no JSON object, in words that name the likely cause. */
export function describeNonObject(
  { status, header, body }: HttpResponse,
  request: string,
  scrub: (text: string) => string,
): ContractError {
  const sentType = header('content-type')?.split(';', 1)[0] ?? 'no content type';
  const type = visible(scrub(sentType)).slice(0, LONGEST_TYPE);
  return new ContractError(
    `The answer to ${request} (status ${status}, ${type}) is ${describeBody(body)}; does LEAGUE_SYNC_BASE_URL name the service?`,
    { httpStatus: status },
  );
}

function describeBody(body: Uint8Array): string {
  if (body.length === 0) return 'an empty body';
  const text = decode(body);
  if (text === undefined) return 'a body that is not UTF-8';
  if (/^\s*</.test(text)) return 'a page of HTML';
  if (isMostlyNothing(body)) return 'made of millions of values with next to nothing in them';
  return 'a body that is no JSON object';
}

/** The body as UTF-8, without a byte order mark; undefined if it is anything else. */
function decode(body: Uint8Array): string | undefined {
  if (!isUtf8(body)) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The service's `message`, cut to a length that a table can show and cleared of secrets. */
export function readMessage(body: JsonObject | undefined, scrub: (text: string) => string): string | undefined {
  const message = body?.message;
  return typeof message === 'string' ? scrub(message).slice(0, LONGEST_MESSAGE) : undefined;
}

/** What a failed response says beside its status, for the error that it becomes. */
export type FailureDetails = {
  readonly httpStatus: number;
  readonly serviceMessage: string | undefined;
  /** Instant (ms) before which the service does not want to be called again. */
  readonly notBefore: number | undefined;
  /** Both in words, for the end of a message. */
  readonly quoted: string;
};

/** Reads what a failed response says. A `Retry-After` holds when this returns, whatever the status is. */
export function readFailureDetails(
  { status: httpStatus, notBefore: asked }: HttpResponse,
  body: JsonObject | undefined,
  { secrets, retryAfter }: { readonly secrets: Secrets; readonly retryAfter: RetryAfter },
): FailureDetails {
  const serviceMessage = readMessage(body, secrets.scrub);
  if (asked !== undefined) retryAfter.extend(asked);
  const notBefore = asked === undefined ? undefined : retryAfter.until() || undefined;
  const words = serviceMessage === undefined ? '' : ` It says: "${visible(serviceMessage)}".`;
  const wish =
    notBefore === undefined ? '' : ` It asks not to be called before ${formatInstant(notBefore)} (Retry-After).`;
  return { httpStatus, serviceMessage, notBefore, quoted: words + wish };
}

/** The service's clock at the time of the response, in ms; undefined if a cache answered or no clock was sent. */
export function serverClock({ header }: ResponseHead): number | undefined {
  return header('age') === undefined ? parseHttpDate(header('date')) : undefined;
}

/** The form that HTTP tells senders to write, and the two old ones that it tells readers to take all the same. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, (\d\d) [A-Z][a-z]{2} \d{4}|[A-Z][a-z]+day, (\d\d)-[A-Z][a-z]{2}-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} ([ \d]\d)) \d\d:\d\d:\d\d (?:GMT|\d{4})$/;

/** Reads an HTTP date as ms since 1970; undefined for anything else, days that no month has included. */
export function parseHttpDate(text = ''): number | undefined {
  const day = HTTP_DATE.exec(text)
    ?.slice(1)
    .find((part) => part !== undefined);
  if (day === undefined) return undefined;
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return new Date(ms).getUTCDate() === Number(day) ? ms : undefined;
}
