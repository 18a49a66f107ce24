import { hashOf } from '../hash.ts';
import { type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { findList } from '../json-list.ts';
import type { Secrets } from '../redact.ts';
import type { Stretches } from '../stretches.ts';
import { type Answer, jsonBytes, readObject } from './answer.ts';

/** An answer whose list is still as it was sent. */
export type Listing = {
  /** The answer, its list emptied. */
  readonly body: JsonObject;
  /** Undefined where the answer holds no such list. */
  readonly elements: Elements | undefined;
};

/** The elements of a list by their places, from 0. Most of them are known, and never read. */
export type Elements = {
  readonly length: number;
  /** The hash of its text. */
  readonly textHashOf: (position: number) => string;
  /** Whether its text holds this one, as it is. */
  readonly holds: (position: number, text: string) => boolean;
  /** Throws a ContractError where the text is no JSON. */
  readonly read: (position: number) => ReadElement;
};

export type ReadElement = {
  readonly value: JsonValue;
  /** Whether a secret was taken out of it. */
  readonly isScrubbed: boolean;
};

type ElementOptions = Pick<Secrets, 'scrubTokens'> & {
  /** What to say of a body that is no JSON. */
  readonly refusal: () => Error;
};

/** Reads an answer all but its list; undefined where it is no JSON object. */
export function* readListing(answer: Answer, name: string, options: ElementOptions): Stretches<Listing | undefined> {
  const clean = (text: string): string => options.scrubTokens(text).json;
  const json = jsonBytes(answer.body);
  const place = json && (yield* findList(json, name));
  if (json === undefined || place === undefined) {
    const body = readObject(answer, clean);
    return body && { body, elements: undefined };
  }
  const rest = Buffer.concat([json.subarray(0, place.from), json.subarray(place.to)]);
  const body = readObject({ ...answer, body: rest }, clean);
  return body && { body, elements: createElements(json, place.elements, options) };
}

/** `places` has start and end of each element, one after the other. */
function createElements(json: Buffer, places: readonly number[], { scrubTokens, refusal }: ElementOptions): Elements {
  const start = (position: number): number => places[position * 2] ?? 0;
  const end = (position: number): number => places[position * 2 + 1] ?? 0;
  return {
    length: places.length / 2,
    textHashOf: (position) => hashOf(json.subarray(start(position), end(position))),
    holds: (position, text) => json.subarray(start(position), end(position)).includes(text),
    read: (position) => {
      const scrubbed = scrubTokens(json.toString('utf8', start(position), end(position)));
      try {
        return { value: parseJson(scrubbed.json), isScrubbed: scrubbed.found };
      } catch {
        throw refusal();
      }
    },
  };
}
