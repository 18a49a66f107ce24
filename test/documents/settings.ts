import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The README's sentence on the simulated service, by the settings that its words are for. */
const SIMULATED = /It listens on `(?<BASE_URL>[^`]+)` \(username `(?<USERNAME>[^`]+)`, password `(?<PASSWORD>[^`]+)`\)/;

/** Follows the README after copying the example: fills in the settings of the simulator. */
export function fillSettings(clone: string): void {
  const path = join(clone, '.env');
  const readme = readFileSync(join(clone, 'README.md'), 'utf8');
  writeFileSync(path, fillIn(readFileSync(path, 'utf8'), readme));
}

/** An example of `.env` with the settings that a README names. Throws if either does not have them. */
export function fillIn(example: string, readme: string): string {
  const { groups } = SIMULATED.exec(readme.replaceAll(/\s+/g, ' ')) ?? {};
  if (groups === undefined) throw new Error('the README does not say how to reach the simulated service');
  return Object.entries(groups).reduce((text, [name, value]) => {
    const line = `\nLEAGUE_SYNC_${name}=\n`;
    if (!text.includes(line)) throw new Error(`.env.example has no line LEAGUE_SYNC_${name}= to fill in`);
    return text.replace(line, () => `\nLEAGUE_SYNC_${name}=${value}\n`);
  }, example);
}
