import { lookAtAll } from '../check/check.ts';
import type { Finding } from '../check/finding.ts';
import { EXIT } from '../errors.ts';
import { layOutFault } from '../terminal/notice.ts';
import { createPaint, visible } from '../terminal/style.ts';
import type { Command, Terminal } from './host.ts';

/** Looks at everything that can go wrong, a line each. Exits 1 where anything fails; a warning is no failure. */
export const check: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const checks: Finding[] = [];
  for await (const finding of lookAtAll(host, host.stop)) {
    checks.push(finding);
    if (json !== true) await host.print(formatFinding(finding, host.terminal));
  }
  const isOk = checks.every(({ result }) => result !== 'fail');
  await host.print(json === true ? JSON.stringify({ ok: isOk, checks }) : summarize(checks));
  return isOk ? EXIT.done : EXIT.failed;
};

const TONES = { ok: 'good', warn: 'warning', fail: 'bad' } as const;
const RESULT_WIDTH = 6;
const NAME_WIDTH = 12;

/** The result, the thing, what was found, and the fix. */
function formatFinding({ name, result, message, fix }: Finding, terminal: Terminal | undefined): string {
  const paint = createPaint(terminal?.color ?? false);
  const lead = paint(TONES[result], result.padEnd(RESULT_WIDTH)) + name.padEnd(NAME_WIDTH);
  const found = { message: visible(message), ...(fix === undefined ? {} : { fix: visible(fix) }) };
  return layOutFault(lead, found, terminal && { columns: terminal.columns, paint });
}

/** Such as `13 ok, 1 warning, 1 failure`. */
function summarize(checks: readonly Finding[]): string {
  const count = (wanted: Finding['result']): number => checks.filter(({ result }) => result === wanted).length;
  const [warnings, failures] = [count('warn'), count('fail')];
  const counts = [`${count('ok')} ok`];
  if (warnings > 0) counts.push(`${warnings} warning${warnings === 1 ? '' : 's'}`);
  if (failures > 0) counts.push(`${failures} failure${failures === 1 ? '' : 's'}`);
  return counts.join(', ');
}
