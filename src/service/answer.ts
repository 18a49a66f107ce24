import { isUtf8 } from 'node:buffer';
import { ContractError } from '../errors.ts';
import { isObject, type JsonObject, parseJson } from '../json.ts';

/** What came back, whole: a body is read to its end before an answer counts. */
export type Answer = {
  readonly status: number;
  /** A header of the answer; the first one where it was sent more than once. */
  readonly header: (name: string) => string | undefined;
  /** The body, decompressed. */
  readonly body: Uint8Array;
};

/** Longest piece of the service's own words that is kept. */
const LONGEST_MESSAGE = 500;
/** No service may silence the worker for longer, nor may a clock that has stepped back since. */
export const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** The statuses that pass by themselves. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status <= 599);
}

/** The body as a JSON object, or undefined where it is anything else. `clean` sees the text before it is read. */
export function readObject(answer: Answer, clean = (text: string): string => text): JsonObject | undefined {
  const text = decode(answer.body);
  if (text === undefined) return undefined;
  try {
    const value = parseJson(clean(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Why a body is no JSON object, in words that name the likely cause. */
export function describeNonObject(answer: Answer, request: string, scrub: (text: string) => string): ContractError {
  const type = scrub(answer.header('content-type')?.split(';', 1)[0] ?? 'no content type');
  const text = decode(answer.body);
  const what =
    answer.body.length === 0
      ? 'an empty body'
      : text === undefined
        ? 'a body that is not UTF-8'
        : /^\s*</.test(text)
          ? 'a page of HTML'
          : 'a body that is no JSON object';
  return new ContractError(
    `The answer to ${request} (status ${answer.status}, ${type}) is ${what}; does LEAGUE_SYNC_BASE_URL name the service?`,
    { httpStatus: answer.status },
  );
}

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

/** The service's clock at the time of the answer, in ms; undefined where a cache answered or no clock was sent. */
export function serverClock(answer: Answer): number | undefined {
  if (answer.header('age') !== undefined) return undefined;
  return parseHttpDate(answer.header('date'));
}

/** The instant (ms, local clock) that a `Retry-After` names; undefined without one that can be read. */
export function readRetryAfter(answer: Answer, now: number): number | undefined {
  const text = answer.header('retry-after')?.trim();
  if (text === undefined) return undefined;
  const date = parseHttpDate(text);
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : date === undefined
      ? undefined
      : date - (serverClock(answer) ?? now);
  return waitMs === undefined || waitMs < 0 ? undefined : now + Math.min(waitMs, LONGEST_PAUSE_MS);
}

/** Only the one form that HTTP tells senders to write; Date.parse alone would take almost anything. */
const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !HTTP_DATE.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
