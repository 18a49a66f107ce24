/** A quoted part, an unquoted part; `\` at the end of a line and before a character. */
const PART =
  /\\\n|"(?<double>(?:\\.|[^"\\])*)"|'(?<single>[^']*)'|\\(?<escaped>.)|(?<bare>(?:[<>]&|[^\s"'\\;&|()])+)|(?<gap>[ \t]+)|(?<end>.|\n)/gsu;
/** `>file`, `2>&1`, `<<END`: not an argument. A placeholder such as `<version>` is one. */
const REDIRECTION = /^\d*(?:[<>]{1,3}&?)(?<target>\S*)$/;
const PLACEHOLDER = /^<[\w -]+>$/;

/** Splits a command line into the words of its simple commands, like a shell; without redirections. */
export function splitLine(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const { groups } of line.matchAll(PART)) {
    const part = groups?.double ?? groups?.single ?? groups?.escaped ?? groups?.bare;
    if (part !== undefined) word = `${word ?? ''}${part}`;
    else if (groups?.gap !== undefined) endWord();
    else if (groups?.end !== undefined) {
      endWord();
      commands.push([]);
    }
  }
  endWord();
  return commands.map(withoutRedirections).filter(({ length }) => length > 0);
}

function withoutRedirections(words: readonly string[]): readonly string[] {
  const targetOf = (word: string | undefined) =>
    PLACEHOLDER.test(word ?? '') ? undefined : REDIRECTION.exec(word ?? '')?.groups?.target;
  return words.filter((word, index) => targetOf(word) === undefined && targetOf(words[index - 1]) !== '');
}
