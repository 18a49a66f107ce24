import { lookAtAll } from '../check/check.ts';
import type { Finding } from '../check/finding.ts';
import { EXIT } from '../errors.ts';
import { createPaint, type Paint } from '../paint.ts';
import { visible } from '../visible.ts';
import type { Command } from './host.ts';

/** Looks at everything that can go wrong, a line each. Exits 1 where anything fails; a warning is no failure. */
export const check: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const checks: Finding[] = [];
  for await (const finding of lookAtAll(host, host.stop)) {
    checks.push(finding);
    if (json !== true) await host.print(formatFinding(finding, createPaint(host.terminal?.color ?? false)));
  }
  const isOk = checks.every(({ result }) => result !== 'fail');
  if (json === true) await host.print(JSON.stringify({ ok: isOk, checks }));
  return isOk ? EXIT.done : EXIT.failed;
};

const TONES = { ok: 'good', warn: 'warning', fail: 'bad' } as const;
const RESULT_WIDTH = 6;
const NAME_WIDTH = 12;

/** One line: the result, the thing, what was found, and behind the arrow what to do. */
function formatFinding({ name, result, message, mend }: Finding, paint: Paint): string {
  const start = paint(TONES[result], result.padEnd(RESULT_WIDTH));
  return `${start}${visible(`${name.padEnd(NAME_WIDTH)}${message}${mend === undefined ? '' : ` -> ${mend}`}`)}`;
}
