import { expect, it } from 'vitest';
import { killUpgrades } from './upgrade.ts';

// A sample of what upgrade.endurance.ts does at many more moments.

it('an upgrade that is killed leaves every row and a whole copy, and the next start completes it', async () => {
  const hits = await killUpgrades({ start: 1, copy: 1, migration: 3, end: 1 });
  expect(hits.size).toBeGreaterThan(1);
});
