import type { ModelBench } from './bench.ts';
import {
  dumpApplied,
  expectActive,
  expectAttention,
  expectFreshness,
  expectRuns,
  expectTables,
  type ModelRun,
} from './check.ts';
import { createFold, expectFeed, expectWholeFeed, type Fold } from './feed.ts';
import { MEMBERS } from './field.ts';
import { type Cells, type ModelList, readAnswer } from './list.ts';
import { applyPoll, shareAtStake } from './model.ts';
import { expectSame } from './rows.ts';
import { answerAgain, answerStep, createService, type Failure, type Step } from './service.ts';
import { createModel, type Model, type ModelChange, NO_COUNTS } from './state.ts';
import { expectFieldChanges, expectVersions, type Moment } from './version.ts';

/** A database, the model of it, and all that has happened to both. */
type Life = {
  readonly bench: ModelBench;
  readonly model: Model;
  readonly fold: Fold;
  readonly runs: ModelRun[];
  readonly moments: Moment[];
  readonly changes: ModelChange[];
  /** The situations that occurred, by name. */
  readonly witnessed: Set<string>;
};

/**
 * Applies the steps to a new database and to the model, and compares them after each; records the situations that
 * occurred.
 */
export async function playSteps(bench: ModelBench, steps: readonly Step[], witnessed: Set<string>): Promise<void> {
  const life = { bench, witnessed, model: createModel(), fold: createFold(), runs: [], moments: [], changes: [] };
  const service = createService();
  for (const step of steps) {
    bench.stepClock(step.clockStepMs);
    if (step.restart) await bench.restart();
    acceptHeld(life, step);
    await pollOnce(life, step, answerStep(service, step));
    if (step.repeat) await pollAgain(life, step, answerAgain(service, step));
  }
  expectWholeFeed(bench, life.fold);
  expectVersions(bench, life.moments);
  expectFieldChanges(bench, life.changes);
  expectFreshness(bench, life.model, life.runs);
  expectActive(bench, life.model);
  expectAttention(bench, life.model, life.runs);
}

/** Accepts some of the held removals like `accept-removals`. */
function acceptHeld({ bench, model }: Life, { acceptEvery }: Step): void {
  const at = new Date(bench.now()).toISOString();
  const waiting = [...model.holds].filter(([, hold]) => hold.acceptedAt === null);
  for (const [index, [leagueId, hold]] of waiting.entries()) {
    if (acceptEvery === 0 || index % acceptEvery > 0) continue;
    bench.write('UPDATE held_removals SET accepted_at = ? WHERE league_id = ?', at, leagueId);
    model.holds.set(leagueId, { ...hold, acceptedAt: at });
  }
}

async function pollOnce(life: Life, asked: Step, answer: string): Promise<void> {
  const { bench, model, runs } = life;
  const list = sends(asked.failure) ? readAnswer(answer, asked.scope) : undefined;
  const step = limitStep(life, asked, list);
  const before = list === undefined ? dumpApplied(bench) : undefined;
  const report = await bench.poll(step, answer);
  const at = finishedAt(life);
  const run = { id: BigInt(runs.length) + 1n, at, scope: step.scope };
  if (list === undefined) {
    runs.push({ ...run, ...endOf(step.failure), counts: NO_COUNTS });
    expectSame(dumpApplied(bench), before, 'the tables after a poll that failed');
  } else {
    runs.push({ ...run, ...applyList(life, step, { list, runId: run.id, at }), errorKind: null });
  }
  life.moments.push({ at, live: liveCells(model) });
  expectRuns(bench, runs);
  const { outcome, counts } = runs.at(-1) ?? {};
  expectSame([report.outcome, report.counts], [outcome, counts], 'the report');
  life.witnessed.add(`run ${outcome}`);
}

/** Sets the limit to the exact share, which random values seldom hit. */
function limitStep({ model, witnessed }: Life, step: Step, list: ModelList | undefined): Step {
  if (!step.atLimit || list === undefined) return step;
  const share = shareAtStake(model, list, step.scope);
  if (share > 0 && Number.isInteger(share)) witnessed.add('a share at its limit');
  return { ...step, limitPercent: Math.floor(share) };
}

function applyList(
  { bench, model, fold, changes, witnessed }: Life,
  { scope, limitPercent, quiet }: Step,
  { list, runId, at }: { readonly list: ModelList; readonly runId: bigint; readonly at: string },
) {
  const accepted = [...model.holds].filter(([, { acceptedAt }]) => acceptedAt !== null).map(([leagueId]) => leagueId);
  const result = applyPoll(model, list, { scope, limitPercent, quiet, runId, at });
  expectTables(bench, model);
  expectFeed(bench, fold, { runId, at, changes: result.changes });
  changes.push(...result.changes);
  for (const { kind, leagueId } of result.changes) {
    witnessed.add(kind);
    if (kind === 'removed' && accepted.includes(leagueId)) witnessed.add('an accepted removal');
  }
  const isStored = ([id, cells]: [string, Cells]): boolean =>
    MEMBERS.every((name) => model.leagues.get(id)?.cells[name] === cells[name]);
  if (![...list.leagues].every(isStored)) witnessed.add('a quiet difference');
  for (const { resolvedAt } of model.rejections.values()) witnessed.add(resolvedAt === null ? 'open' : 'resolved');
  return { outcome: result.outcome, counts: result.counts };
}

/** Polls the same list again in another order, which must change nothing, not even held removals. */
async function pollAgain(life: Life, step: Step, answer: string): Promise<void> {
  const before = dumpApplied(life.bench);
  await pollOnce(life, step, answer);
  expectSame(dumpApplied(life.bench), before, 'the tables after the same answer again');
}

/** The time of a run: at least the current time of the worker, and later than every run before. */
function finishedAt({ bench, runs }: Life): string {
  const at = String(bench.rows('SELECT finished_at FROM runs ORDER BY id DESC LIMIT 1')[0]?.finished_at);
  const earliest = [new Date(bench.now()).toISOString(), runs.at(-1)?.at ?? ''].sort().at(-1) ?? '';
  expectSame(at >= earliest && at !== runs.at(-1)?.at, true, `a run that ends at ${at}, after ${earliest}`);
  return at;
}

/** The expected end of a run that applies nothing. */
function endOf(failure: Failure | null) {
  if (failure === 'stopped') return { outcome: 'interrupted', errorKind: null };
  return { outcome: 'failed', errorKind: failure === null || sends(failure) ? 'contract' : failure };
}

function sends(failure: Failure | null): boolean {
  return failure === null || failure === 'no-list' || failure === 'mostly-rejected';
}

function liveCells({ leagues }: Model): Moment['live'] {
  return new Map([...leagues].filter(([, { removedAt }]) => removedAt === null).map(([id, { cells }]) => [id, cells]));
}
