import { judgeStaleness } from '../../../src/commands/status.ts';
import type { createApp } from '../../../src/observe/routes.ts';
import { assess } from '../../../src/observe/verdict.ts';
import type { Attention, Freshness } from '../../../src/store/queries/overview.ts';
import type { Row } from '../../support/database.ts';
import { makeRequest } from '../../support/request.ts';

type App = ReturnType<typeof createApp>;

/** What the world knows; undefined where it cannot be sure. */
export type Known = {
  readonly good: { readonly runId: number; readonly staleAt: number } | undefined;
  readonly isStale: boolean | undefined;
  readonly isStaleInFile: boolean | undefined;
  readonly live: number | undefined;
  readonly failures: number | undefined;
  readonly isRefused: boolean | undefined;
  readonly isWritable: boolean;
  readonly isLoggedIn: boolean | undefined;
};

/** Rows of `attention` that depend on the time, as `what_to_do` does: a worker's connection has the machine's clock. */
const BY_THE_CLOCK = ['stale', 'drift', 'webhook', 'copy', 'unusual-change'];
const RUN = (id: number): string => `SELECT finished_at, stale_at FROM runs WHERE id = ${id}`;

/** Whether the probes, the metrics, the page, `status` and the views agree with each other, and with what is known. */
export async function judgeState(
  {
    app,
    said,
    rows,
  }: { readonly app: App; readonly said: Set<string>; readonly rows: (sql: string) => readonly Row[] },
  { good, isStale, isStaleInFile, live, failures, isRefused, isWritable, isLoggedIn }: Known,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const same = (what: string, found: unknown, expected: unknown): void => {
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (expected !== undefined && one !== other) failed.push(`${what}: ${one} instead of ${other}`);
  };
  const ask = (path: string) => app.handle(makeRequest(path));
  const [livez, readyz, metrics, json] = await Promise.all(['/livez', '/readyz', '/metrics', '/status.json'].map(ask));
  const [probe, status] = [readyz, json].map((response) => JSON.parse(response?.body ?? ''));
  const metric = (name: string): number => {
    const line = metrics?.body.split('\n').find((text) => text.startsWith(`league_sync_${name} `));
    return Number(line?.split(' ').at(-1));
  };
  const reasons: readonly string[] = probe.reasons.map(({ reason }: { reason: string }) => reason);
  same('/livez', livez?.status, 200);
  same('/readyz', [readyz?.status, probe.ready], reasons.length === 0 ? [200, true] : [503, false]);
  same('ready in /status.json', [status.ready, status.reasons], [probe.ready, probe.reasons]);
  for (const reason of ['starting', 'no-good-poll', 'stale', 'credentials-refused', 'database'])
    same(`not_ready ${reason}`, metric(`not_ready{reason="${reason}"}`), Number(reasons.includes(reason)));
  // The page costs more than all the rest: it is read once for each thing that it may say.
  const onPage = status.as_of === null ? status.headline.replace(/^Stale:/, 'No data yet:') : status.headline;
  if (!said.has(onPage) && !(await ask('/')).body.includes(`<h1>${onPage}</h1>`))
    failed.push(`the page does not say: ${onPage}`);
  said.add(onPage);
  if (reasons.includes('starting') || status.stored === null) return failed;

  const attention = rows('SELECT * FROM attention') as readonly Attention[];
  const [freshness] = rows('SELECT * FROM freshness') as readonly [Freshness];
  const lasting = (found: readonly Attention[]) =>
    found.filter(({ what }) => !BY_THE_CLOCK.includes(what)).map((row) => ({ ...row, what_to_do: '' }));
  same('attention in /status.json', lasting(status.attention), lasting(attention));
  same('freshness', { ...status.stored.freshness, age_seconds: 0 }, { ...freshness, age_seconds: 0 });
  same('live leagues', freshness.live_leagues, live);
  same('live leagues in /metrics', metric('leagues{state="live"}'), live);
  same('failures', freshness.consecutive_failures, failures);
  same('failures in /metrics', metric('consecutive_failures'), failures);
  const staleness = judgeStaleness({ attention, freshness }, { state: 'running' });
  same('stale in status', !assess({ attention, freshness, staleness }).ready, isStaleInFile);
  same('stale', reasons.includes('stale') || reasons.includes('no-good-poll'), isStale);
  same('no-good-poll', reasons.includes('no-good-poll'), good === undefined);
  same('refused', reasons.includes('credentials-refused'), isRefused);
  same('logged in', status.session.logged_in, isLoggedIn);
  if (isWritable) same('database', reasons.includes('database'), false);
  if (good === undefined) return failed;
  const [run] = rows(RUN(good.runId));
  same('last_success_at', freshness.last_success_at, run?.finished_at);
  const lastSuccess = metric('last_success_timestamp_seconds{kind="leagues"}') * 1_000;
  same('last success in /metrics', lastSuccess, Date.parse(String(run?.finished_at)));
  same('stale_at', [freshness.stale_at, run?.stale_at], Array(2).fill(new Date(good.staleAt).toISOString()));
  return failed;
}
