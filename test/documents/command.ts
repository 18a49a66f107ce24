import { spawnSync } from 'node:child_process';
import type { Line } from './markdown.ts';

/** The commands that go on until Ctrl-C. */
const LASTING = /^(?:(?:npx |\.\/)league-sync (?:run|simulate|demo)|npm start|npm run demo)\b(?!.*--(?:for|help))/;
/** The commands that fetch packages; nothing else needs a network. */
const FETCHING = /^npm (?:ci|install)\b/;

/** Whether a command goes on until it is stopped. */
export function isLasting(command: string): boolean {
  return LASTING.test(command);
}

/** Whether a command needs npm's registry. */
export function isFetching(command: string): boolean {
  return FETCHING.test(command);
}

/** A command without the comment behind it. */
export function withoutComment(command: string): string {
  return command.replace(/\s+# .*$/, '').trim();
}

/**
 * The commands of a block: one per line, continued as in a shell. A command after an installation in the same line
 * counts as a separate one.
 */
export function splitCommands(lines: readonly string[], firstLine: number): readonly Line[] {
  const commands: Line[] = [];
  let begun: Line | undefined;
  lines.forEach((text, index) => {
    if (begun === undefined && /^\s*(?:#|$)/.test(text)) return;
    begun = begun === undefined ? { line: firstLine + index, text } : { ...begun, text: `${begun.text}\n${text}` };
    if (index < lines.length - 1 && isUnfinished(begun.text)) return;
    commands.push(...splitInstallation(begun));
    begun = undefined;
  });
  return commands;
}

function splitInstallation({ line, text }: Line): readonly Line[] {
  const [, first, rest] = /^(npm (?:ci|install)\b[^&]*?) && (.+)$/.exec(text) ?? [];
  return first === undefined || rest === undefined
    ? [{ line, text }]
    : [
        { line, text: first },
        { line, text: rest },
      ];
}

/** Including what a shell runs with a warning: a here-document without its end. */
function isUnfinished(command: string): boolean {
  if (command.endsWith('\\')) return true;
  const { status, stderr } = spawnSync('bash', ['-n', '-c', command], { encoding: 'utf8' });
  return status !== 0 || stderr !== '';
}
