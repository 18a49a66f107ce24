import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { networkProblem } from '../../src/store/disk.ts';

it.each([tmpdir(), '/nowhere/at/all'])('%s is on no network file system', (folder) => {
  expect(networkProblem('leagues.db', folder)).toBeUndefined();
});
