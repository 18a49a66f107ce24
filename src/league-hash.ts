/**
 * What a row remembers of the league that it was written from, in one text: the hash of all that the league says, the
 * hash of the very text that said it, and which version of the program read that. The first tells whether a league
 * differs, in whatever order its keys come; the second tells of most leagues that they do not, before they are read.
 */
export type LeagueHash = string;

/** Of what `hashOf` gives. */
const LENGTH = 43;
const TEXT_HASH_AT = LENGTH + 1;
const VERSION_AT = TEXT_HASH_AT + LENGTH + 1;
/** Where in it the hash of the text is, in characters from 0. */
export const TEXT_HASH_PLACE = { from: TEXT_HASH_AT, length: LENGTH } as const;
/** No text that was read: a secret had been taken out of it. */
export const NO_TEXT_HASH = '-'.repeat(LENGTH);

/** Another version of the program may read something else in the same text. */
export function leagueHash(content: string, textHash: string, programVersion: string): LeagueHash {
  return `${content}.${textHash}.${programVersion}`;
}

export function isReadByVersion(league: LeagueHash, programVersion: string): boolean {
  return league.length === VERSION_AT + programVersion.length && league.endsWith(programVersion);
}

/** Whether two leagues say the same, as far as hashes tell; those of different versions tell nothing. */
export function isSameContent(one: LeagueHash, other: LeagueHash): boolean {
  return (
    one.slice(0, TEXT_HASH_AT) === other.slice(0, TEXT_HASH_AT) && one.slice(VERSION_AT) === other.slice(VERSION_AT)
  );
}
