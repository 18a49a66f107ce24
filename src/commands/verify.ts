import type { CheckResult } from '../check/result.ts';
import { NOT_SEEN, verifyFile } from '../check/verify.ts';
import { DatabaseError, EXIT } from '../errors.ts';
import { escapeAtTerminal } from '../terminal/style.ts';
import { formatResult, summarize } from './check.ts';
import type { Command } from './command.ts';

type VerifyOptions = { readonly file: string; readonly against?: string; readonly json?: boolean };

export const verify: Command<VerifyOptions> = async (io, { file, against, json = false }) => {
  const checks: CheckResult[] = [];
  const lines = verifyFile(file, against);
  const next = () => withoutSettings(() => lines.next());
  let line = next();
  for (; !line.done; line = next()) {
    checks.push(line.value);
    if (!json) await io.print(formatResult(line.value, io.terminal));
  }
  const ok = checks.every(({ result }) => result !== 'fail');
  if (json) {
    const { newestPoll = null, lastSeq = null, lacks = null } = line.value ?? {};
    const facts = { newest_poll: newestPoll, last_seq: lastSeq, lacks, not_seen: NOT_SEEN };
    await io.print(escapeAtTerminal(JSON.stringify({ ok, checks, ...facts }), io.terminal));
  } else {
    await io.print(summarize(checks, io.terminal));
    await io.say(`Not seen: ${NOT_SEEN}${against === undefined ? ' (--against FILE says that)' : ''}.`);
  }
  return ok ? EXIT.done : EXIT.failed;
};

/** Other commands take the file from the settings, and errors say so. */
function withoutSettings<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DatabaseError) || !error.fix?.includes('LEAGUE_SYNC_DATABASE')) throw error;
    throw new DatabaseError(error.what, { cause: error.cause, fix: 'name a database of league-sync' });
  }
}
