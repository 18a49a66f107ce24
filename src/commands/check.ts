import { lookAtAll } from '../check/check.ts';
import type { Finding } from '../check/finding.ts';
import { EXIT } from '../errors.ts';
import { visible } from '../visible.ts';
import type { Command } from './host.ts';

/** Looks at everything that can go wrong, a line each. Exits 1 where anything fails; a warning is no failure. */
export const check: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const checks: Finding[] = [];
  for await (const finding of lookAtAll(host, host.stop)) {
    checks.push(finding);
    if (json !== true) await host.print(formatFinding(finding, host.color));
  }
  const isOk = checks.every(({ result }) => result !== 'fail');
  if (json === true) await host.print(JSON.stringify({ ok: isOk, checks }));
  return isOk ? EXIT.done : EXIT.failed;
};

const COLORS = { ok: '\u001b[32m', warn: '\u001b[33m', fail: '\u001b[31m' };
const PLAIN = '\u001b[0m';
const RESULT_WIDTH = 6;
const NAME_WIDTH = 12;

/** One line: the result, the thing, what was found, and behind the arrow what to do. */
function formatFinding({ name, result, message, mend }: Finding, color: boolean): string {
  const word = result.padEnd(RESULT_WIDTH);
  const start = color ? `${COLORS[result]}${word}${PLAIN}` : word;
  return `${start}${visible(`${name.padEnd(NAME_WIDTH)}${message}${mend === undefined ? '' : ` -> ${mend}`}`)}`;
}
