/** A terminal would obey escape sequences, and turn round what is written after some characters. */
const OBEYED = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** The text with every character spelt out that a terminal would obey instead of show. */
export function visible(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}
