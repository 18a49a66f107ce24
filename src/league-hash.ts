import { hash } from 'node:crypto';

/**
 * What a row remembers of the league that it was written from, in one text: the hash of all that the league says, the
 * hash of the very text that said it, and which version of the program read that. The first tells whether a league
 * differs, in whatever order its keys come; the second tells of most leagues that they do not, before they are read.
 */
export type LeagueHash = string;

/** Of SHA-256 in base64url. */
const LENGTH = 43;
const FORM = LENGTH + 1;
const READER = FORM + LENGTH + 1;
/** Where in it the hash of the text is, in characters from 0. */
export const FORM_PLACE = { from: FORM, length: LENGTH } as const;
/** No text that was read: a secret had been taken out of it. */
export const NO_FORM = '-'.repeat(LENGTH);

export function hashOf(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64url');
}

/** `reader` is the program's version: another one may read something else in the same text. */
export function leagueHash(content: string, form: string, reader: string): LeagueHash {
  return `${content}.${form}.${reader}`;
}

export function isReadBy(league: LeagueHash, reader: string): boolean {
  return league.length === READER + reader.length && league.endsWith(reader);
}

/** Whether two leagues say the same, as far as hashes tell; those of different versions tell nothing. */
export function isSameContent(one: LeagueHash, other: LeagueHash): boolean {
  return one.slice(0, FORM) === other.slice(0, FORM) && one.slice(READER) === other.slice(READER);
}
