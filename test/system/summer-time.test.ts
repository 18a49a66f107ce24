import { beforeEach, describe, it } from 'vitest';
import { missingFaketime } from '../support/libfaketime.ts';
import { walkSchedule } from '../support/schedule-walk.ts';

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

describe('a worker in a zone with DST polls once at each scheduled time', () => {
  it('when it begins: before, in and after the skipped hour', async () => {
    await walkSchedule({
      timezone: 'Europe/Berlin',
      expression: '30 1-3 * * *',
      from: '2026-03-29T00:00:00Z',
      times: ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'],
    });
  });

  it('when it ends: in both repeated hours', async () => {
    await walkSchedule({
      timezone: 'Europe/Berlin',
      expression: '30 * * * *',
      from: '2026-10-25T00:10:00Z',
      times: ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
    });
  });
});
