import type { Stretches } from './stretches.ts';

/** Where a list lies in the JSON of an object, and each of its elements in it: the places of bytes. */
export type ListPlace = {
  /** Of the first byte after `[`. */
  readonly from: number;
  /** Of its `]`. */
  readonly to: number;
  /** Start and end of each element, one after the other. */
  readonly elements: readonly number[];
};

/**
 * Finds the list that an object holds under this name, without reading it. Where every element by itself, and the
 * object with the list emptied, are JSON, the whole is. Undefined where there is no such list, or where reading it would
 * take many times the memory of its text.
 */
export function* findList(json: Uint8Array, name: string): Stretches<ListPlace | undefined> {
  let at = skipSpace(json, 0);
  if (json[at] !== OPEN_OBJECT) return undefined;
  let found: ListPlace | undefined;
  at = skipSpace(json, at + 1);
  while (json[at] === QUOTE) {
    const closing = endOfString(json, at);
    const named = readName(json, at + 1, closing);
    if (named === undefined) return undefined;
    // As in all JSON, the last one counts where a name stands twice.
    const isNamed = named === name;
    at = skipSpace(json, closing + 1);
    if (json[at] !== COLON) return undefined;
    at = skipSpace(json, at + 1);
    const list = isNamed && json[at] === OPEN_LIST ? yield* splitList(json, at + 1) : undefined;
    if (isNamed) found = list;
    at = list === undefined ? endOfValue(json, at) : skipSpace(json, list.to + 1);
    if (json[at] !== COMMA) break;
    at = skipSpace(json, at + 1);
  }
  return found;
}

/** More values than any list of leagues has, unless each of them is of some length; a league's take 28 bytes each. */
const MANY_VALUES = 3_000_000;
const LEAST_BYTES_EACH = 16;

/** Whether reading this JSON would take many times the memory of its text: each value, however short, takes some. */
export function isMostlyNothing(json: Uint8Array): boolean {
  if (json.length < MANY_VALUES) return false;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    // Whatever begins a value in JSON, but for the first one.
    if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1;
  }
  return isTooDense(values, json.length);
}

function isTooDense(values: number, bytes: number): boolean {
  return values > MANY_VALUES && values * LEAST_BYTES_EACH > bytes;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

/** Places of elements, of which each has two: so many are found before there may be a pause. */
const STRIDE = 2_048;

/** One pass over the bytes, as tight as it gets: lists of tens of megabytes go through here at each poll. */
function* splitList(json: Uint8Array, from: number): Stretches<ListPlace | undefined> {
  const elements: number[] = [];
  let values = 0;
  let depth = 0;
  let start = skipSpace(json, from);
  if (json[start] === CLOSE_LIST) return { from, to: start, elements };
  for (let at = start; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        values += 1;
        break;
      case COMMA:
        values += 1;
        if (depth > 0) break;
        elements.push(start, trimEnd(json, start, at));
        if (isTooDense(values, json.length)) return undefined;
        if (elements.length % STRIDE === 0) yield;
        start = skipSpace(json, at + 1);
        at = start - 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        if (depth >= 0) break;
        elements.push(start, trimEnd(json, start, at));
        return json[at] === CLOSE_LIST && !isTooDense(values, json.length) ? { from, to: at, elements } : undefined;
    }
  }
  return undefined;
}

/** The place of what ends the value: a comma, or what closes the object around it. */
function endOfValue(json: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (depth === 0) return at;
        depth -= 1;
        break;
      case COMMA:
        if (depth === 0) return at;
        break;
    }
  }
  return json.length;
}

/** The place of the quote that ends the string which begins at `from`. */
function endOfString(json: Uint8Array, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return json.length;
}

function skipSpace(json: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(json[at])) at += 1;
  return at;
}

function trimEnd(json: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(json[at - 1])) at -= 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A longer name is none that is asked for, however much of it is escaped. */
const LONGEST_NAME = 100;

/** The name between these places, or a part of it where it is too long; undefined where it is no JSON. */
function readName(json: Uint8Array, from: number, to: number): string | undefined {
  const name = Buffer.from(json.subarray(from, Math.min(to, from + LONGEST_NAME))).toString();
  if (!name.includes('\\') || to - from > LONGEST_NAME) return name;
  try {
    return String(JSON.parse(`"${name}"`));
  } catch {
    return undefined;
  }
}
