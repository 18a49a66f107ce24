import { isUtf8 } from 'node:buffer';
import { ContractError } from '../errors.ts';
import { isMostlyNothing, isObject, type JsonObject, parseJson } from '../json.ts';
import { visible } from '../terminal/style.ts';
import { yieldToEventLoop } from '../yield.ts';
import { parseHttpDate } from './http-date.ts';

/** What comes before the body. */
export type Head = {
  readonly status: number;
  /** A header of the answer; the first one where it was sent more than once, but a line each of `retry-after`. */
  readonly header: (name: string) => string | undefined;
};

/** What came back, whole: a body is read to its end before an answer counts. */
export type Answer = Head & {
  /** The body, decompressed. */
  readonly body: Uint8Array;
  /** Instant (ms) that a `Retry-After` named when the head came. */
  readonly notBefore?: number | undefined;
};

/** Content types are short; this one may be anything. */
const LONGEST_TYPE = 100;
/** Longest piece of the service's own words that is kept. */
const LONGEST_MESSAGE = 500;
/** No service may silence the worker for longer, nor may a clock that has stepped back since. */
export const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** The statuses that pass by themselves. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status <= 599);
}

/**
 * The body as a JSON object, or undefined if it is anything else. `clean` sees the text before it is parsed. Each step
 * takes tens of milliseconds if there are tens of megabytes, so others have their turn in between.
 */
export async function readObject(
  answer: Answer,
  clean = (text: string): string => text,
  signal?: AbortSignal,
): Promise<JsonObject | undefined> {
  if (isMostlyNothing(answer.body)) return undefined;
  await yieldToEventLoop(signal);
  const text = decode(answer.body);
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
export function describeNonObject(answer: Answer, request: string, scrub: (text: string) => string): ContractError {
  const type = visible(scrub(answer.header('content-type')?.split(';', 1)[0] ?? 'no content type')).slice(
    0,
    LONGEST_TYPE,
  );
  const text = decode(answer.body);
  const what =
    answer.body.length === 0
      ? 'an empty body'
      : text === undefined
        ? 'a body that is not UTF-8'
        : /^\s*</.test(text)
          ? 'a page of HTML'
          : isMostlyNothing(answer.body)
            ? 'made of millions of values with next to nothing in them'
            : 'a body that is no JSON object';
  return new ContractError(
    `The answer to ${request} (status ${answer.status}, ${type}) is ${what}; does LEAGUE_SYNC_BASE_URL name the service?`,
    { httpStatus: answer.status },
  );
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

/** The service's clock at the time of the answer, in ms; undefined where a cache answered or no clock was sent. */
export function serverClock({ header }: Head, now: number): number | undefined {
  if (header('age') !== undefined) return undefined;
  return parseHttpDate(header('date'), now);
}

/**
 * The instant (ms, local clock) that a `Retry-After` names, the latest where there are several; undefined without one that
 * can be read.
 */
export function readRetryAfter(head: Head, now: number): number | undefined {
  const clock = serverClock(head, now) ?? now;
  const waits = (head.header('retry-after') ?? '').split('\n').flatMap((text) => readWaitMs(text.trim(), clock) ?? []);
  const waitMs = Math.max(...waits);
  return waitMs < 0 ? undefined : now + Math.min(waitMs, LONGEST_PAUSE_MS);
}

const SECONDS = /^\d+(?:\s*,\s*\d+)*$/;

function readWaitMs(text: string, clock: number): number | undefined {
  if (SECONDS.test(text)) return Math.max(...text.split(',').map(Number)) * 1_000;
  const date = parseHttpDate(text, clock);
  return date === undefined ? undefined : date - clock;
}
