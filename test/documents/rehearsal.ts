import { faults as known } from '../../src/simulator/fault.ts';
import type { Document, Output, Step } from './markdown.ts';
import type { Report } from './report.ts';
import { processIn, type Session } from './session.ts';
import { linesOf, missingFrom } from './shape.ts';
import { eventually } from './terminal.ts';

/** A section whose heading names faults, with what it quotes of the worker's terminal. */
export type Section = {
  readonly line: number;
  readonly faults: readonly string[];
  /** Switched on after the last of them. */
  readonly afterwards: readonly string[];
  readonly quotes: readonly Output[];
};

/** A poll may take as long as the run timeout, after a wait for the next slot. */
const POLL_LIMIT_MS = 12_000;
/** How many polls that say nothing new end the listening. After the last fault of a section: an `ETag` takes two. */
const POLLS_IN_VAIN = { between: 1, last: 2 };
const RECOVERY_LIMIT_MS = 30_000;
const HANGUP_AFTER_MS = 3_000;
const COMMAND_LIMIT_MS = 20_000;

const POLL = /^(?:\[[\d:]+\] )?\w+: leagues: (?:changed|unchanged|held|failed)/;
const GOOD_POLL = /^(?:\[[\d:]+\] )?\w+: leagues: (?:changed|unchanged|held)/;

/** The section that begins with a step, where that is a heading such as: It is down: `down` (switch on `x` after it). */
export function sectionAt(document: Document, step: Step): Section | undefined {
  if (step.kind !== 'heading') return undefined;
  const [, names = '', remark = ''] = /^## .+: ((?:`[\w-]+`(?:, )?)+)(?: \((.+)\))?$/.exec(step.text) ?? [];
  const faults = quoted(names);
  if (faults.length === 0 || !faults.every(isFault)) return undefined;
  const rest = document.steps.slice(document.steps.indexOf(step) + 1);
  const end = rest.findIndex(({ kind }) => kind === 'heading');
  const quotes = rest.slice(0, end === -1 ? undefined : end).filter((one) => one.kind === 'output');
  return { line: step.line, faults, afterwards: quoted(remark).filter(isFault), quotes: quotes.filter(isOfFaults) };
}

/** Whether an output is checked with the faults of its section: one that no comment says anything of. */
export function isOfFaults({ mark }: Output): boolean {
  return mark.reason === undefined && mark.amongLinesOf === undefined;
}

function isFault(name: string): boolean {
  return known.some((fault) => fault.name === name);
}

function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

export type Stage = {
  readonly document: Document;
  readonly session: Session;
  readonly clone: string;
  readonly report: Report;
};

/** Whoever sits in front of the three terminals: switches faults by the document's own commands, and reads. */
export function createRehearsal({ document, session, clone, report }: Stage) {
  const worker = session.terminal(terminalOf(document, /^npx league-sync run\b/));
  const switches = session.terminal(terminalOf(document, /^curl /));
  const commands = document.steps.flatMap((step) => (step.kind === 'commands' ? step.commands : []));
  const address = /curl -X PUT (\S+\/_faults)\//.exec(commands.map(({ text }) => text).join('\n'))?.[1] ?? '';
  let isOn = false;

  const send = async (command: string) => {
    const { code, printed } = await switches.run(command, COMMAND_LIMIT_MS);
    if (code !== 0 || /"result":"fail"/.test(printed)) throw new Error(`${command}: ${printed}`);
  };
  const switchOn = async (name: string) => {
    isOn = true;
    await send(`curl -sS -X PUT ${address}/${name}`);
  };

  /** All faults off, and a good poll. As the document says, SIGHUP ends a wait. */
  const recover = async () => {
    if (!isOn) return;
    await send(`curl -sS -X DELETE ${address}`);
    isOn = false;
    const from = worker.screen().length;
    const isGood = () => linesOf(worker.screen().slice(from)).some((line) => GOOD_POLL.test(line));
    for (let waited = 0; waited < RECOVERY_LIMIT_MS; waited += HANGUP_AFTER_MS) {
      await send(`kill -HUP ${processIn(worker)}`);
      if (await eventually(isGood, HANGUP_AFTER_MS)) return;
    }
    throw new Error('the worker did not recover after its faults were off');
  };

  const play = async ({ line, faults, afterwards, quotes }: Section) => {
    await recover();
    const from = worker.screen().length;
    const printed = () => linesOf(worker.screen().slice(from));
    const wanted = quotes.flatMap(({ lines }) => lines);
    const missing = () => missingFrom(printed(), wanted, clone);
    for (const [index, fault] of faults.entries()) {
      await switchOn(fault);
      const last = index === faults.length - 1;
      if (last) for (const name of afterwards) await switchOn(name);
      await listen(missing, printed, last ? POLLS_IN_VAIN.last : POLLS_IN_VAIN.between);
      if (!last) await recover();
    }
    if (missing().length > 0) await recover();
    const what = `${wanted.length} lines of the worker, with ${[...faults, ...afterwards].join(', ')}`;
    if (missing().length === 0) report.pass(line, what);
    else
      report.fail(line, what, [
        ...missing().map((one) => `not said: ${one}`),
        ...printed().map((one) => `said: ${one}`),
      ]);
  };
  return { play, recover };
}

/** Until everything is said, or the worker has polled again and again and said nothing that was missing. */
async function listen(
  missing: () => readonly string[],
  printed: () => readonly string[],
  inVain: number,
): Promise<void> {
  const atFirst = polls(printed());
  const expects = missing().length > 0;
  let [left, seen] = [missing().length, atFirst];
  await eventually(
    () => {
      const now = missing().length;
      if (now < left) [left, seen] = [now, polls(printed())];
      if (now === 0) return !expects ? polls(printed()) > atFirst : true;
      return polls(printed()) >= seen + inVain;
    },
    POLL_LIMIT_MS * (inVain + 1),
  );
}

function polls(lines: readonly string[]): number {
  return lines.filter((line) => POLL.test(line)).length;
}

function terminalOf(document: Document, pattern: RegExp): string {
  const block = document.steps.find(
    (step) => step.kind === 'commands' && step.commands.some(({ text }) => pattern.test(text)),
  );
  return block?.kind === 'commands' ? block.mark.terminal : '1';
}
