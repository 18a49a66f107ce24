import { cut, widthOf } from '../terminal/text.ts';

export const ARROW = ' → ';

/** Looked at of a value: more fits into no line, and some are megabytes. */
const LOOKED_AT = 1_000;
/** Kept of what two values have in common before they begin to differ. */
const CONTEXT = 3;

/**
 * Both values, cut until they fit into this width with an arrow between them. The shorter one is cut last, and two that
 * would look alike then are shown from where they differ.
 */
export function fitPair(old: string, now: string, width: number): readonly [string, string] {
  const from = old.slice(0, LOOKED_AT) === now.slice(0, LOOKED_AT) ? differFrom(old, now) : 0;
  return from > 1 ? squeeze(tail(old, from), tail(now, from), width) : squeeze(start(old), start(now), width);
}

function squeeze(old: string, now: string, width: number): readonly [string, string] {
  const room = Math.max(2, width - ARROW.length);
  const [oldWidth, nowWidth] = [widthOf(old), widthOf(now)];
  if (oldWidth + nowWidth <= room) return [old, now];
  const forOld = Math.min(oldWidth, Math.max(Math.floor(room / 2), room - nowWidth));
  const pair = [cut(old, forOld), cut(now, room - forOld)] as const;
  const from = differFrom(old, now);
  return from > 1 && looksAlike(pair) ? squeeze(tail(old, from), tail(now, from), width) : pair;
}

/** Whether both are cut, and nothing that is left of them differs. */
function looksAlike([one, other]: readonly [string, string]): boolean {
  if (!one.endsWith('…') || !other.endsWith('…')) return false;
  const [kept, otherKept] = [one.slice(0, -1), other.slice(0, -1)];
  return kept.startsWith(otherKept) || otherKept.startsWith(kept);
}

/** Where to begin so that the first difference is seen, with a little of what comes before it. */
function differFrom(old: string, now: string): number {
  let index = 0;
  while (index < old.length && old[index] === now[index]) index += 1;
  const from = Math.max(0, index - CONTEXT);
  return isSecondHalf(old.charCodeAt(from)) ? from + 1 : from;
}

/** Of a character that takes two places in a string. */
function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function start(text: string): string {
  return text.slice(0, LOOKED_AT);
}

/** The text from there on, with a sign that it does not begin there. */
function tail(text: string, from: number): string {
  return `…${start(text.slice(from))}`;
}
