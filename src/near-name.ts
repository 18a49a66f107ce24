import { closestMatch } from 'leven';

/** What was probably meant by a name that is none; undefined if no known one is near. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  return closestMatch(name, known, { maxDistance: allowance(name.length) });
}

/** Two letters that changed places are two steps; of a very short name nothing would be left. */
function allowance(length: number): number {
  return length < 4 ? 1 : Math.max(2, Math.floor(length / 3));
}
