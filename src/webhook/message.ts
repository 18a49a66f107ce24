import { randomBytes } from 'node:crypto';
import { type Change, changeJson } from '../store/queries/feed.ts';
import type { Message } from '../store/tables/webhook.ts';

const MAX_CHANGES = 100;
const MAX_BODY_BYTES = 65_536;
/** Limits of one message. */
export const LIMITS = { limit: MAX_CHANGES, maxChars: MAX_BODY_BYTES } as const;
/** More than a message of changes needs besides the changes. */
const ENVELOPE_BYTES = 300;

/** `source` is the id of the database. */
type MessageOrigin = { readonly source: string | null; readonly madeAt: string };

/** A `leagues.changed` with the first of the `changes`: as many as fit, and at least one. Undefined if there are none. */
export function makeChangesMessage({ source, madeAt }: MessageOrigin, changes: readonly Change[]): Message | undefined {
  const texts: string[] = [];
  let bytes = ENVELOPE_BYTES;
  let first: Change | undefined;
  let last: Change | undefined;
  for (const change of changes) {
    const text = changeJson(change);
    bytes += Buffer.byteLength(text) + 1;
    if (first !== undefined && bytes > MAX_BODY_BYTES) break;
    texts.push(text);
    first ??= change;
    last = change;
  }
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [first.seq, last.seq];
  // The changes are JSON text already. Parsing them could lose digits.
  const data = `{"source":${JSON.stringify(source)},"from_seq":${from},"to_seq":${to},"changes":[${texts.join(',')}]}`;
  const body = `{"type":"leagues.changed","timestamp":"${last.at}","data":${data}}`;
  return { id: newMessageId(), type: 'leagues.changed', madeAt, body, changes: { from, to } };
}

export function makeMessage(
  type: string,
  { source, madeAt }: MessageOrigin,
  data: Readonly<Record<string, unknown>>,
): Message {
  const body = JSON.stringify({ type, timestamp: madeAt, data: { source, ...data } });
  return { id: newMessageId(), type, madeAt, body };
}

/** Random, and without a dot, which separates the parts that are signed. */
function newMessageId(): string {
  return `msg_${randomBytes(18).toString('base64url')}`;
}
