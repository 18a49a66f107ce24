import { checkAll } from '../check/check.ts';
import type { CheckResult } from '../check/result.ts';
import { EXIT } from '../errors.ts';
import { PLAIN, type Terminal } from '../terminal/style.ts';
import { layOutNotice, plural } from '../terminal/text.ts';
import type { Command } from './host.ts';

/** Looks at everything that can go wrong, a line each. Exits 1 if anything fails; a warning is no failure. */
export const check: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const checks: CheckResult[] = [];
  for await (const result of checkAll(host, host.stop)) {
    checks.push(result);
    if (json !== true) await host.print(formatResult(result, host.terminal));
  }
  const isOk = checks.every(({ result }) => result !== 'fail');
  await host.print(json === true ? JSON.stringify({ ok: isOk, checks }) : summarize(checks));
  return isOk ? EXIT.done : EXIT.failed;
};

const TONES = { ok: 'good', warn: 'warning', fail: 'bad' } as const;
const RESULT_WIDTH = 6;
const NAME_WIDTH = 12;

/** The result, the thing, what was found, and the fix. */
function formatResult({ name, result, ...found }: CheckResult, terminal: Terminal | undefined): string {
  const { paint } = terminal ?? PLAIN;
  const lead = paint(TONES[result], result.padEnd(RESULT_WIDTH)) + name.padEnd(NAME_WIDTH);
  return layOutNotice(lead, found, terminal);
}

/** Such as `13 ok, 1 warning, 1 failure`. */
function summarize(checks: readonly CheckResult[]): string {
  const count = (wanted: CheckResult['result']): number => checks.filter(({ result }) => result === wanted).length;
  const [warnings, failures] = [count('warn'), count('fail')];
  return [
    `${count('ok')} ok`,
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
    ...(failures > 0 ? [plural(failures, 'failure')] : []),
  ].join(', ');
}
