import { splitCommands } from './command.ts';
import { type Mark, PLAIN, readComment, readMark } from './mark.ts';

export type Line = { readonly line: number; readonly text: string };
export type Output = { readonly line: number; readonly lines: readonly string[]; readonly mark: Mark };
export type Commands = {
  readonly line: number;
  readonly commands: readonly Line[];
  readonly mark: Mark;
  /** What the document shows right after the block. */
  readonly output?: Output;
};
export type Step = ({ readonly kind: 'commands' } & Commands) | ({ readonly kind: 'output' } & Output);

/** What a document asks its reader to do, in order. */
export type Document = {
  readonly file: string;
  readonly text: string;
  readonly steps: readonly Step[];
  /** Commands inside sentences. */
  readonly named: readonly Line[];
  /** Errors in the comments. */
  readonly faults: readonly Line[];
};

type Fence = { readonly line: number; readonly end: number; readonly label: string; readonly lines: readonly string[] };

const SHELL = 'sh';
/** Languages of blocks that are not commands. */
const TOLD = ['', 'ini', 'js', 'mermaid', 'nginx', 'python', 'sql', 'text', 'ts', 'yaml'];
const NAMED =
  /`((?:[A-Z_]+=\S+ )*(?:(?:npx |\.\/)?league-sync(?:@[\w-]+)?|npx|npm|(?:node_modules\/\.bin\/)?node)\s[^`]+)`/g;

/** Reads a document. Outputs after a block of SQL are left out: the cookbook has a test of its own for these. */
export function readDocument(file: string, text: string): Document {
  const lines = text.split('\n');
  const fences = readFences(lines);
  const faults: Line[] = [];
  const steps: Step[] = [];
  for (const fence of fences) {
    const mark = markBefore(lines, fence, faults);
    const before = fences.find(({ end }) => end === fence.line - 1);
    if (!TOLD.includes(fence.label) && fence.label !== SHELL)
      faults.push({ line: fence.line, text: `unknown kind of block: "${fence.label}"` });
    if (fence.label === SHELL) {
      steps.push({ kind: 'commands', line: fence.line, mark, commands: splitCommands(fence.lines, fence.line + 1) });
    } else if (fence.label === '' && before?.label !== 'sql') {
      addOutput(steps, { line: fence.line, lines: fence.lines, mark }, before !== undefined);
    }
  }
  const outside = lines.map((line, index) => (fences.some((fence) => isWithin(fence, index + 1)) ? '' : line));
  outside.forEach((line, index) => {
    const words = readComment(line);
    if (words !== undefined && !fences.some((fence) => fence.line === index + 2))
      faults.push({ line: index + 1, text: `no block follows the comment "${words}"` });
  });
  return { file, text, steps, named: readNamed(outside), faults };
}

function readFences(lines: readonly string[]): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { readonly line: number; readonly label: string; readonly indent: number } | undefined;
  lines.forEach((text, index) => {
    const [, indent = '', label = ''] = /^( *)```(\w*)/.exec(text) ?? [undefined];
    if (!text.trimStart().startsWith('```')) return;
    if (open === undefined) {
      open = { line: index + 1, label, indent: indent.length };
      return;
    }
    const { line, indent: cut } = open;
    fences.push({
      line,
      end: index + 1,
      label: open.label,
      lines: lines.slice(line, index).map((one) => one.slice(cut)),
    });
    open = undefined;
  });
  return fences;
}

function isWithin({ line, end }: Fence, number: number): boolean {
  return number >= line && number <= end;
}

function markBefore(lines: readonly string[], { line }: Fence, faults: Line[]): Mark {
  const words = readComment(lines[line - 2] ?? '');
  if (words === undefined) return PLAIN;
  const mark = readMark(words);
  if (mark === undefined) faults.push({ line: line - 1, text: `unknown comment: "${words}"` });
  return mark ?? PLAIN;
}

/** An output right after a command block, without a comment of its own, is the output of that block. */
function addOutput(steps: Step[], output: Output, follows: boolean): void {
  const last = steps.at(-1);
  if (follows && output.mark === PLAIN && last?.kind === 'commands') steps.splice(-1, 1, { ...last, output });
  else steps.push({ kind: 'output', ...output });
}

function readNamed(lines: readonly string[]): readonly Line[] {
  const text = lines.join('\n');
  return [...text.matchAll(NAMED)].map(({ index, 1: command = '' }) => ({
    line: text.slice(0, index).split('\n').length,
    text: command.replaceAll(/\s+/g, ' ').trim(),
  }));
}
