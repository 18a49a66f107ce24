import { beforeEach, describe, it } from 'vitest';
import { missingFaketime } from '../support/fake-clock.ts';
import { walkSlots } from '../support/slot-walk.ts';

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

// More of them are in test/endurance/summer-time.test.ts.
describe('a worker in a zone with summer time polls at each slot once', () => {
  it('where it begins: up to the hour left out, in it and after it', async () => {
    await walkSlots({
      timezone: 'Europe/Berlin',
      expression: '30 1-3 * * *',
      from: '2026-03-29T00:00:00Z',
      slots: ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'],
    });
  });

  it('where it ends: in both of the hours that have one name', async () => {
    await walkSlots({
      timezone: 'Europe/Berlin',
      expression: '30 * * * *',
      from: '2026-10-25T00:10:00Z',
      slots: ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
    });
  });
});
