import type { Log } from '../log.ts';
import type { RunReport } from '../sync/report.ts';

const MAX_NAMED = 3;
const MAX_NAME_LENGTH = 100;

/** Warns of new drift and rejections. Redacts and truncates field names and ids, which come from the service. */
export function logNewFindings(log: Log, report: RunReport, scrub: (text: string) => string): void {
  const { runId, kind, newFindings: { drift = [], rejections = [] } = {} } = report;
  const shorten = (name: string): string => {
    const text = scrub(name);
    return text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH)}…` : text;
  };
  const warn = (fields: object, count: number, nouns: readonly [string, string], texts: readonly string[]): void => {
    const more = count > texts.length ? [`and ${count - texts.length} more`] : [];
    const what = nouns[count === 1 ? 0 : 1];
    log.warn({ run_id: runId, kind, ...fields }, `${kind}: ${count} new ${what}: ${[...texts, ...more].join('; ')}`);
  };
  if (drift.length > 0) {
    const first = drift.slice(0, MAX_NAMED).map(({ example_league_id: id, ...one }) => {
      return { ...one, field: shorten(one.field), ...(id ? { example_league_id: shorten(id) } : {}) };
    });
    const texts = first.map((one) => `${one.field} ${one.kind} (${one.detail})`);
    const nouns = ['departure from the interface (drift)', 'departures from the interface (drift)'] as const;
    warn({ new_drift: drift.length, drift: first }, drift.length, nouns, texts);
  }
  if (rejections.length > 0) {
    const first = rejections.slice(0, MAX_NAMED).map(({ leagueId, position, problems }) => ({
      league_id: leagueId === null ? null : shorten(leagueId),
      position,
      problems: problems.slice(0, MAX_NAMED),
    }));
    const texts = first.map(({ league_id, position, problems: [problem, ...others] }) => {
      const wrong = `${problem?.path ?? ''} ${problem?.message ?? ''}`.trim() + (others.length > 0 ? ', …' : '');
      return `leagues[${position}]${league_id === null ? '' : ` (${league_id})`} ${wrong}`;
    });
    const rest = 'that cannot be stored (rejected_leagues)';
    const fields = { new_rejections: rejections.length, rejected_leagues: first };
    warn(fields, rejections.length, [`entry ${rest}`, `entries ${rest}`], texts);
  }
}
