import { checkAll } from '../check/check.ts';
import { NO_WORKER } from '../check/database.ts';
import type { CheckResult } from '../check/result.ts';
import { EXIT } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import { assertAbsent } from '../store/atomic-copy.ts';
import { escapeAtTerminal, isPipe, NARROW_COLUMNS, type Terminal } from '../terminal/style.ts';
import { formatNotice, plural } from '../terminal/text.ts';
import type { Command } from './command.ts';
import { startProgress } from './progress.ts';
import { writeReport } from './report.ts';

type CheckOptions = { readonly json?: boolean; readonly report?: string };

export const check: Command<CheckOptions> = async (io, { json = false, report }) => {
  if (report !== undefined) assertAbsent(report);
  const checks: CheckResult[] = [];
  using progress = startProgress(io, 'checking');
  const results = checkAll(io, { stop: io.stop, ...progress });
  for (;;) {
    // A check may wait for the network, which takes no signal.
    const { value: result, done } = await unlessAborted(results.next(), io.stop);
    if (done) break;
    checks.push(result);
    if (!json) await io.print(formatResult(result, io.terminal));
    progress.rest();
  }
  const ok = checks.every(({ result }) => result !== 'fail');
  await io.print(json ? escapeAtTerminal(JSON.stringify({ ok, checks }), io.terminal) : summarize(checks, io.terminal));
  if (report !== undefined) {
    await writeReport(io, report, checks);
    if (!json) await io.say(`what a bug report needs is in ${report}, without secrets; read it before you send it`);
  }
  if (!json && ok && !isPipe(io.terminal) && checks.includes(NO_WORKER))
    await io.say('→ start the worker: league-sync run');
  return ok ? EXIT.done : EXIT.failed;
};

const TONES = { ok: 'good', warn: 'warning', fail: 'bad' } as const;
const RESULT_WIDTH = 6;
const NAME_WIDTH = 12;

export function formatResult({ name, result, ...notice }: CheckResult, terminal: Terminal): string {
  const { columns, paint } = terminal;
  const lead = paint(TONES[result], result.padEnd(RESULT_WIDTH));
  if (columns < NARROW_COLUMNS)
    return formatNotice(lead, { ...notice, message: `${name}: ${notice.message}` }, terminal);
  return formatNotice(lead + name.padEnd(NAME_WIDTH), notice, terminal);
}

/** Such as `12 ok, 1 warning, 1 failed`. */
export function summarize(checks: readonly CheckResult[], { paint }: Terminal): string {
  const count = (wanted: CheckResult['result']): number => checks.filter(({ result }) => result === wanted).length;
  const parts = [`${count('ok')} ok`];
  if (count('warn') > 0) parts.push(plural(count('warn'), 'warning'));
  if (count('fail') > 0) parts.push(`${count('fail')} failed`);
  const worst = (['fail', 'warn'] as const).find((result) => count(result) > 0) ?? 'ok';
  return paint(TONES[worst], parts.join(', '));
}
