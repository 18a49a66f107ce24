import { isUtf8 } from 'node:buffer';
import { hasTooManyValues, isObject, parseJson } from '../league/json.ts';
import { yieldToEventLoop } from '../race-abort.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';

export type ResponseHead = {
  readonly status: number;
  /** The first value of a header; for `Retry-After`, all values, joined by commas. `name` must be in lower case. */
  readonly header: (name: string) => string | undefined;
  /** A sentence, after a space, that names the proxy that the response came through; empty if there is none. */
  readonly via: string;
};

export type HttpResponse = ResponseHead & {
  /** Empty if the status is not 2xx and the body could not be read. */
  readonly body: Uint8Array;
  /** The end (ms, local clock) of the wait that `Retry-After` asks for. */
  readonly notBefore?: number | undefined;
};

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Whether a retry may help after this status. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status <= 599);
}

/**
 * Parses a body; resolves to undefined if the body is not a JSON object or has too many values. `clean` redacts the
 * text before it is parsed. Yields to the event loop between steps: for tens of MB, each takes tens of milliseconds.
 */
export async function readObject(body: Uint8Array, clean = (text: string) => text, signal?: AbortSignal) {
  if (hasTooManyValues(body)) return undefined;
  await yieldToEventLoop(signal);
  const text = decodeUtf8(body);
  if (text === undefined) return undefined;
  const cleaned = clean(text);
  await yieldToEventLoop(signal);
  const value = tryOrUndefined(() => {
    // Redaction decodes escapes, also outside strings, where JSON has none.
    if (cleaned !== text) JSON.parse(text);
    return parseJson(cleaned);
  });
  await yieldToEventLoop(signal);
  return isObject(value) ? value : undefined;
}

/** The text of the body without a byte order mark; undefined if the body is not UTF-8. */
export function decodeUtf8(body: Uint8Array): string | undefined {
  if (!isUtf8(body)) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The service's time (ms); undefined if the `Date` header is missing or unreadable, or if a cache answered (`Age`). */
export function serverTime({ header }: ResponseHead): number | undefined {
  return header('age') === undefined ? parseHttpDate(header('date')) : undefined;
}

/** The three date formats of RFC 9110, 5.6.7; all must be accepted. Each group captures the day of the month. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, (\d\d) [A-Z][a-z]{2} \d{4}|[A-Z][a-z]+day, (\d\d)-[A-Z][a-z]{2}-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} ([ \d]\d)) \d\d:\d\d:\d\d (?:GMT|\d{4})$/;

/** Reads an HTTP date as ms since 1970; undefined for other text and for impossible dates, such as 30 February. */
export function parseHttpDate(text = ''): number | undefined {
  const day = HTTP_DATE.exec(text)?.slice(1).find(Boolean);
  if (day === undefined) return undefined;
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return new Date(ms).getUTCDate() === Number(day) ? ms : undefined;
}
