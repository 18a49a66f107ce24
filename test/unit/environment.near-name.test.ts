import { expect, it } from 'vitest';
import { closestName } from '../../src/config/read-environment.ts';

const COMMANDS = ['run', 'sync', 'profile', 'check', 'status', 'changes', 'query', 'backup', 'simulate', 'demo'];

it.each([
  ['stauts', 'status'],
  ['snyc', 'sync'],
  ['change', 'changes'],
  ['ru', 'run'],
  ['simulat', 'simulate'],
  ['sim', 'simulate'],
  ['STAUTS', 'status'],
  ['help-me', undefined],
  ['nonsense', undefined],
  ['up', undefined],
  ['x', undefined],
  ['', undefined],
])('"%s" is near to %s', (name, near) => {
  expect(closestName(name, COMMANDS)).toBe(near);
});
