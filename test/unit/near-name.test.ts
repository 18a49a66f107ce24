import { expect, it } from 'vitest';
import { nearName } from '../../src/near-name.ts';

const COMMANDS = ['run', 'sync', 'profile', 'check', 'status', 'changes', 'query', 'backup', 'simulate', 'demo'];

it.each([
  ['stauts', 'status'],
  ['snyc', 'sync'],
  ['change', 'changes'],
  ['ru', 'run'],
  ['simulat', 'simulate'],
  ['help-me', undefined],
  ['nonsense', undefined],
  ['up', undefined],
  ['x', undefined],
  ['', undefined],
])('"%s" is near to %s', (name, near) => {
  expect(nearName(name, COMMANDS)).toBe(near);
});
