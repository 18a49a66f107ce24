import { describe, expect, it } from 'vitest';
import type { Rejection } from '../../src/service/leagues.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { logNews } from '../../src/worker/news-log.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';
import { makeReport } from '../support/run-report.ts';

const driftOf = (name: string) => ({ field: `leagues[].${name}`, kind: 'unknown-field', detail: 'string' }) as const;

function rejectionOf(position: number, leagueId: string | null = `id-${position}`): Rejection {
  const problems = [{ path: 'league_name', message: 'is missing (absent)' }];
  return { position, leagueId, problems, raw: '{"secret":"raw"}' as Rejection['raw'] };
}

function tell(found: Partial<RunReport['news']>, scrub = (text: string): string => text) {
  const { log, lines } = createTestLog();
  logNews(log, makeReport({ runId: 12, news: { drift: [], rejections: [], ...found } }), scrub);
  return lines;
}

describe('what no run before has found', () => {
  it('is named in one warning for drift, with its fields', () => {
    const lines = tell({ drift: [driftOf('city'), driftOf('country')] });
    expect(wordsOf(lines)).toEqual([
      'warn leagues: 2 new departures from the interface (drift): leagues[].city unknown-field (string); leagues[].country unknown-field (string)',
    ]);
    expect(lines[0]).toMatchObject({ run_id: 12, kind: 'leagues', new_drift: 2, drift: [{}, driftOf('country')] });
  });

  it('is named in one warning for rejections, by id or place, and never as it was sent', () => {
    const lines = tell({ rejections: [rejectionOf(0), rejectionOf(7, null)] });
    expect(wordsOf(lines)).toEqual([
      'warn leagues: 2 new entries that cannot be stored (rejected_leagues): leagues[0] (id-0) league_name is missing (absent); leagues[7] league_name is missing (absent)',
    ]);
    expect(lines[0]).toMatchObject({ new_rejections: 2, rejected_leagues: [{ league_id: 'id-0' }, { position: 7 }] });
    expect(JSON.stringify(lines)).not.toContain('raw');
  });

  it('is named by its first three, and the others are counted', () => {
    const positions = Array.from({ length: 40 }, (_, position) => position);
    const lines = tell({
      drift: positions.map((position) => driftOf(`field_${position}`)),
      rejections: positions.map((position) => rejectionOf(position)),
    });
    expect(lines.map(({ msg }) => msg.slice(msg.lastIndexOf(';')))).toEqual(['; and 37 more', '; and 37 more']);
    expect(lines).toMatchObject([
      { new_drift: 40, drift: [{}, {}, {}] },
      { new_rejections: 40, rejected_leagues: [{}, {}, {}] },
    ]);
  });

  it('is cut where a name is long, and holds no secret', () => {
    const scrub = (text: string): string => text.replaceAll('hunter2', '[secret]');
    const lines = tell(
      { drift: [driftOf(`hunter2${'x'.repeat(9_000)}`)], rejections: [rejectionOf(0, 'hunter2')] },
      scrub,
    );
    expect(JSON.stringify(lines)).not.toContain('hunter2');
    expect(lines[0]?.msg).toContain('leagues[].[secret]xxx');
    expect(lines[1]?.msg).toContain('([secret])');
    expect(JSON.stringify(lines[0]).length).toBeLessThan(600);
  });

  it('is nothing where there is nothing', () => {
    expect(tell({})).toEqual([]);
  });
});
