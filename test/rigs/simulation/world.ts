import { createActions, type Kind } from './actions.ts';
import { createLives } from './lives.ts';
import { createStage } from './stage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How long it is until the next thing happens, at most, in minutes: most things meet others, between long rests. */
const GAPS = [0, 2, 15, 60, 1_800];
/** How long faults come and go. */
const TROUBLE_MS = 6 * 24 * HOUR;
/** How long everything then has to become well again: a refused message waits for up to 11 h, or until SIGHUP. */
const PEACES_MS = [2 * HOUR, 2 * HOUR, 14 * HOUR];
/** How often it is looked at what the worker shows of itself. */
const SHARE_SHOWN = 0.15;
const LINES_SHOWN = 60;

/** What happens less than the seed says, to find the shortest history that fails. */
export type Less = { readonly actions: number; readonly without: readonly Kind[] };
const ALL: Less = { actions: Number.POSITIVE_INFINITY, without: [] };

/**
 * Lets a worker live through a week that the seed determines, and returns what happened. Throws an Error that names the
 * seed and what is not as it must be.
 */
export async function runWorld(seed: number, { actions, without } = ALL): Promise<readonly string[]> {
  using stage = createStage(seed);
  const { random, elapsed, pass, judge, time, trace } = stage;
  const lives = createLives(stage);
  try {
    const { act, makePeace, person } = createActions(stage, lives);
    person.changePassword();
    lives.start();
    await time.settle();
    for (let count = 0; count < actions && elapsed() < TROUBLE_MS; count += 1) {
      await pass(random.pick(GAPS) * random.int(1, MINUTE), lives.isRunning);
      await act(without);
      if (random.chance(SHARE_SHOWN)) await lives.show();
    }
    makePeace();
    await time.settle();
    // What was in flight still fails.
    await pass(10 * MINUTE);
    person.hangUp();
    await pass(HOUR);
    await person.acceptRemovals();
    await person.moveWebhook(judge.acceptedSeq(lives.path()));
    await pass(random.pick(PEACES_MS));
    // A pause of two hours may have delayed the poll that holds them.
    await person.acceptRemovals();
    person.hangUp();
    await pass(HOUR);
    judge.expectWell(lives.path(), lives.copiedSeq());
    await lives.show();
    await lives.stop();
    judge.throwIfFailed();
    return trace;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${why}\n${trace.slice(-LINES_SHOWN).join('\n')}`, { cause: error });
  } finally {
    await lives.endAll();
  }
}
