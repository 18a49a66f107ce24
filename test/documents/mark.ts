/** How to treat a command block or an output, from the comment before it. */
export type Mark = {
  /** Why the block is not run, or the output not compared. */
  readonly reason?: string;
  /** The output consists of lines of this terminal. */
  readonly amongLinesOf?: string;
  readonly terminal: string;
  /** Runs in a separate terminal for the duration of the block. */
  readonly beside?: string;
  /** Run before the block; their exit codes do not matter. */
  readonly after: readonly string[];
  /** Exit code of the block's last command. */
  readonly exits: number;
  /** Input that is typed when the last command prompts for it. */
  readonly answers: readonly string[];
  /** The process id in the document that stands for the one of the worker. */
  readonly process?: { readonly number: string; readonly terminal: string };
};

export const PLAIN: Mark = { terminal: '1', after: [], exits: 0, answers: [] };

const COMMENT = /^\s*<!--\s*(?<words>(?:not run|run|among)\b.*?)\s*-->\s*$/;

/** The text of a comment that is addressed to this test. */
export function readComment(line: string): string | undefined {
  return COMMENT.exec(line)?.groups?.words;
}

/** Parses the text of a comment; undefined if it means nothing. README.md explains the syntax. */
export function readMark(words: string): Mark | undefined {
  const reason = /^not run: (\S.*)$/.exec(words)?.[1];
  if (reason !== undefined) return { ...PLAIN, reason };
  const amongLinesOf = /^among the lines of terminal (\d)$/.exec(words)?.[1];
  if (amongLinesOf !== undefined) return { ...PLAIN, amongLinesOf };
  const items = /^run: (\S.*)$/.exec(words)?.[1]?.split('; ') ?? [''];
  return items.reduce<Mark | undefined>((mark, item) => mark && addItem(mark, item), PLAIN);
}

function addItem(mark: Mark, item: string): Mark | undefined {
  const [, verb = '', rest = ''] = /^(in terminal|beside|after|exits|answers) (.+)$/.exec(item) ?? [];
  if (verb === 'in terminal' && /^\d$/.test(rest)) return { ...mark, terminal: rest };
  if (verb === 'beside') return { ...mark, beside: rest };
  if (verb === 'after') return { ...mark, after: [...mark.after, rest] };
  if (verb === 'exits' && /^\d+$/.test(rest)) return { ...mark, exits: Number(rest) };
  if (verb === 'answers') return { ...mark, answers: [...mark.answers, rest] };
  const [, number, terminal] = /^(\d+) is the process in terminal (\d)$/.exec(item) ?? [];
  return number === undefined || terminal === undefined ? undefined : { ...mark, process: { number, terminal } };
}
