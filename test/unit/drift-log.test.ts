import { describe, expect, it } from 'vitest';
import type { Rejection } from '../../src/service/parse-leagues.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { logNewFindings } from '../../src/worker/drift-log.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';
import { makeReport } from '../support/run-report.ts';

const driftOf = (name: string) => ({ field: `leagues[].${name}`, kind: 'unknown-field', detail: 'string' }) as const;

function rejectionOf(position: number, leagueId: string | null = `id-${position}`): Rejection {
  const problems = [{ path: 'league_name', message: 'is missing' }];
  return { position, leagueId, problems, raw: '{"secret":"raw"}' as Rejection['raw'] };
}

function tell(found: Partial<RunReport['newFindings']>, scrub = (text: string): string => text) {
  const { log, lines } = createTestLog();
  logNewFindings(log, makeReport({ runId: 12, newFindings: { drift: [], rejections: [], ...found } }), scrub);
  return lines;
}

describe('a new finding', () => {
  it('of drift is logged in one warning with its fields', () => {
    const lines = tell({ drift: [driftOf('city'), driftOf('country')] });
    expect(wordsOf(lines)).toEqual([
      'warn leagues: 2 new departures from the interface (drift): leagues[].city unknown-field (string); leagues[].country unknown-field (string)',
    ]);
    expect(lines[0]).toMatchObject({ run_id: 12, kind: 'leagues', new_drift: 2, drift: [{}, driftOf('country')] });
  });

  it('of a rejection is logged by id or position, without the element itself', () => {
    const lines = tell({ rejections: [rejectionOf(0), rejectionOf(7, null)] });
    expect(wordsOf(lines)).toEqual([
      'warn leagues: 2 new entries that cannot be stored (rejected_leagues): leagues[0] (id-0) league_name is missing; leagues[7] league_name is missing',
    ]);
    expect(lines[0]).toMatchObject({ new_rejections: 2, rejected_leagues: [{ league_id: 'id-0' }, { position: 7 }] });
    expect(JSON.stringify(lines)).not.toContain('raw');
  });

  it('beyond the third is only counted', () => {
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

  it('has long names truncated and secrets redacted', () => {
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
});
