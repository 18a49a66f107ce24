import type { CheckResult } from '../check/result.ts';
import { NOT_SEEN, verifyFile } from '../check/verify.ts';
import { EXIT } from '../errors.ts';
import { escapeAtTerminal } from '../terminal/style.ts';
import { formatResult, summarize } from './check.ts';
import type { Command } from './command.ts';
import { startProgress } from './progress.ts';

type VerifyOptions = { readonly file: string; readonly against?: string; readonly json?: boolean };

export const verify: Command<VerifyOptions> = async (io, { file, against, json = false }) => {
  const checks: CheckResult[] = [];
  using progress = startProgress(io, 'opening the file');
  const lines = verifyFile(file, against, progress.say);
  let line = lines.next();
  for (; !line.done; line = lines.next()) {
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
