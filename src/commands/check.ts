import { checkAll } from '../check/check.ts';
import type { CheckResult } from '../check/result.ts';
import { EXIT } from '../errors.ts';
import { PLAIN, type Terminal } from '../terminal/style.ts';
import { formatNotice, plural } from '../terminal/text.ts';
import type { Command } from './command.ts';

export const check: Command<{ readonly json?: boolean }> = async (io, { json = false }) => {
  const checks: CheckResult[] = [];
  for await (const result of checkAll(io, io.stop)) {
    checks.push(result);
    if (!json) await io.print(formatResult(result, io.terminal));
  }
  const ok = checks.every(({ result }) => result !== 'fail');
  await io.print(json ? JSON.stringify({ ok, checks }) : summarize(checks));
  return ok ? EXIT.done : EXIT.failed;
};

const TONES = { ok: 'good', warn: 'warning', fail: 'bad' } as const;
const RESULT_WIDTH = 6;
const NAME_WIDTH = 12;

function formatResult({ name, result, ...notice }: CheckResult, terminal: Terminal | undefined): string {
  const { paint } = terminal ?? PLAIN;
  const lead = paint(TONES[result], result.padEnd(RESULT_WIDTH)) + name.padEnd(NAME_WIDTH);
  return formatNotice(lead, notice, terminal);
}

/** Such as `12 ok, 1 warning, 1 failure`. */
function summarize(checks: readonly CheckResult[]): string {
  const count = (wanted: CheckResult['result']): number => checks.filter(({ result }) => result === wanted).length;
  const parts = [`${count('ok')} ok`];
  if (count('warn') > 0) parts.push(plural(count('warn'), 'warning'));
  if (count('fail') > 0) parts.push(plural(count('fail'), 'failure'));
  return parts.join(', ');
}
