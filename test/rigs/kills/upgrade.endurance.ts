import { expect, it } from 'vitest';
import { killUpgrades } from './upgrade.ts';

it('an upgrade that is killed at any moment leaves every row and a whole copy, and the next start completes it', async () => {
  const hits = await killUpgrades({ start: 4, copy: 10, migration: 18, end: 8 });
  console.info(JSON.stringify(Object.fromEntries(hits)));
  expect([...hits.keys()]).toEqual(expect.arrayContaining(['in the copy', 'in the migration', 'after it']));
});
