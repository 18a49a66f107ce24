import { KINDS } from './actions.ts';
import { type Less, runWorld } from './world.ts';

/** More than any world has. */
const MOST_ACTIONS = 512;

/** Like `runWorld`, but what it throws is of the shortest history it finds that fails: fewer actions, then fewer kinds. */
export async function runAndShrink(seed: number): Promise<void> {
  let least: Less = { actions: MOST_ACTIONS, without: [] };
  let error: unknown;
  const passes = async (less: Less): Promise<boolean> => {
    try {
      await runWorld(seed, less);
      return true;
    } catch (found) {
      [least, error] = [less, found];
      return false;
    }
  };
  if (await passes(least)) return;
  for (let step = MOST_ACTIONS / 2; step >= 1; step /= 2) await passes({ ...least, actions: least.actions - step });
  for (const kind of KINDS) await passes({ ...least, without: [...least.without, kind] });
  const { actions, without } = least;
  throw new Error(`seed ${seed} fails with ${actions} actions, without ${without.join(', ')}`, { cause: error });
}
