import { existsSync } from 'node:fs';
import { isSuccess } from '../../../src/http/response.ts';
import { type Row, readRows } from '../../support/database.ts';
import type { Request, World } from './service.ts';

type Told = { readonly runId: number; readonly outcome: string; readonly lastSeq: number };

/** What holds at all times. Remembers the first thing that does not. */
export function createJudge(
  world: World,
  { elapsed, note }: { elapsed: () => number; note: (text: string) => unknown },
) {
  let failure: string | undefined;
  let path = '';
  let live = new Set<string>();
  const told: Told[] = [];
  const accepted = new Set<string>();
  /** When a person did something, or the clock stepped, in elapsed ms. */
  const persons: number[] = [];
  const steps: number[] = [];
  let judgedRequests = 0;
  const deliveries = createDeliveryJudge((text) => fail(text));
  let judgedDeliveries = 0;

  const fail = (text: string): void => {
    failure ??= text;
    note(`FAILED: ${text}`);
  };
  const rows = (sql: string, at = path): readonly Row[] => (existsSync(at) ? readRows(at, sql) : []);
  const lastSeq = (at = path): number => Number(rows('SELECT max(seq) AS seq FROM league_changes', at)[0]?.seq ?? 0);
  const readLive = (at = path): Set<string> =>
    new Set(
      rows('SELECT league_id FROM leagues WHERE removed_at IS NULL', at).map(({ league_id }) => String(league_id)),
    );

  const judgeRun = ({ kind, outcome, run_id }: Row): void => {
    if (kind !== 'leagues' || run_id === undefined) return;
    note(`run ${run_id} ${outcome}`);
    if (!GOOD.includes(String(outcome))) return;
    const [found = {}] = rows(STATE);
    const now = new Set<string>(JSON.parse(String(found.live)));
    told.push({ runId: Number(run_id), outcome: String(outcome), lastSeq: Number(found.seq) });
    const { ids } = world.requests.findLast(({ endpoint }) => endpoint === 'leagues') ?? {};
    if (ids !== undefined && ['changed', 'unchanged'].includes(String(outcome))) {
      const listed = new Set(ids);
      const extra = [...now].filter((id) => !listed.has(id));
      if (extra.length > 0) fail(`run ${run_id}: not in the answer, but live: ${extra}`);
      const missing = [...listed].filter((id) => !now.has(id));
      if (missing.length > 0 && !world.switches.active().includes('bad-rows'))
        fail(`run ${run_id}: in the answer, but not live: ${missing}`);
    }
    const gone = [...live].filter((id) => !now.has(id) && !accepted.has(id));
    if (gone.length > 5 && gone.length > live.size * 0.2) fail(`run ${run_id}: the guard let ${gone.length} go`);
    for (const id of now)
      if (!gone.includes(id) && world.leagues().some((one) => one.league_id === id)) accepted.delete(id);
    live = now;
  };
  const judgeRequests = (): void => {
    for (; judgedRequests < world.requests.length; judgedRequests += 1) {
      const request = world.requests[judgedRequests] as Request;
      const before = world.requests.slice(0, judgedRequests);
      const open = before.find(
        (one) =>
          one.life === request.life &&
          one.endpoint === request.endpoint &&
          (one.endedAt ?? Number.POSITIVE_INFINITY) > request.at,
      );
      if (open !== undefined) fail(`two requests of ${request.endpoint} at once`);
      const pause = before.findLast(({ pauseUntil = 0 }) => pauseUntil > request.at);
      const isKnown = pause !== undefined && (pause.life === request.life || !steps.some((at) => at >= pause.at));
      if (isKnown && (pause.endedAt ?? 0) < request.at)
        fail(`sent ${(pause.pauseUntil ?? 0) - request.at} ms before the end of a Retry-After`);
      const refused = before.findLast(({ endpoint }) => endpoint === 'login');
      if (request.endpoint !== 'login' || refused?.status !== 401 || refused.life !== request.life) continue;
      if (persons.some((at) => at >= refused.at)) continue;
      if (request.at - refused.at < 59_000) fail(`a login ${request.at - refused.at} ms after it was refused`);
    }
  };
  return {
    fail,
    lastSeq,
    beginLife: (at: string): void => {
      path = at;
      live = readLive();
      persons.push(elapsed());
    },
    markPerson: (): unknown => persons.push(elapsed()),
    markStep: (): unknown => steps.push(elapsed()),
    accept: (ids: readonly string[]): void => {
      for (const id of ids) accepted.add(id);
    },
    moveWebhook: (seq: number): void => {
      for (; judgedDeliveries < world.delivered.length; judgedDeliveries += 1)
        deliveries.judge(world.delivered[judgedDeliveries]);
      deliveries.move(seq);
    },
    acceptedSeq: (at: string): number => Number(rows('SELECT accepted_seq FROM webhook', at)[0]?.accepted_seq ?? 0),
    /** Reads a line of the worker's log. */
    read: (line: Row, text: string): void => {
      for (const secret of world.secrets) if (text.includes(secret)) fail(`the log has a secret: ${line.msg}`);
      if (line.outcome !== undefined && line.duration_ms !== undefined) judgeRun(line);
    },
    throwIfFailed: (): void => {
      judgeRequests();
      for (; judgedDeliveries < world.delivered.length; judgedDeliveries += 1)
        deliveries.judge(world.delivered[judgedDeliveries]);
      if (failure !== undefined) throw new Error(failure);
    },
    /** Looks at the whole database, as after a kill. */
    look: (at: string): void => {
      if (!existsSync(at)) return;
      const [found = {}] = rows(WHOLE, at);
      const outcomes = new Map<unknown, unknown>(JSON.parse(String(found.outcomes)));
      const seq = Number(found.seq);
      for (const { runId, outcome, lastSeq: reported } of told) {
        if (outcomes.get(runId) !== outcome) fail(`run ${runId} was reported ${outcome} and is ${outcomes.get(runId)}`);
        if (seq < reported) fail(`change ${reported} was reported and is gone`);
      }
      const { changes, runs, running, unequal } = found;
      if (changes || runs || running) fail(`out of order: ${JSON.stringify({ changes, runs, running })}`);
      if (unequal !== null) fail(`the feed does not give the table: ${unequal}`);
    },
    /** Faults have ended long ago. */
    expectWell: (at: string): void => {
      const [last] = rows("SELECT * FROM runs WHERE kind = 'leagues' ORDER BY id DESC LIMIT 1", at);
      if (!['changed', 'unchanged'].includes(String(last?.outcome))) fail(`the last poll is ${JSON.stringify(last)}`);
      const now = readLive(at);
      const listed = world.leagues().map(({ league_id }) => String(league_id));
      if (now.size !== listed.length || listed.some((id) => !now.has(id)))
        fail('the leagues are not those of the service');
      const attention = rows("SELECT what FROM attention WHERE what NOT IN ('stale', 'drift')", at);
      if (attention.length > 0) fail(`attention: ${JSON.stringify(attention)}`);
      const [hook] = rows('SELECT accepted_seq, message_id FROM webhook', at);
      if (hook?.accepted_seq !== lastSeq(at)) fail(`the webhook has ${hook?.accepted_seq} of ${lastSeq(at)}`);
    },
  };
}

/** Each change once or more, in order and without a gap; a message keeps its id and bytes; no end before its beginning. */
function createDeliveryJudge(fail: (text: string) => void) {
  const bodies = new Map<string, string>();
  let last = { to: 0, isAccepted: true };
  let moved: number | undefined;
  const sent = { stale: false, refused: false };
  return {
    move: (seq: number): void => {
      moved = seq;
    },
    judge: (delivered: World['delivered'][number] | undefined): void => {
      if (delivered === undefined) return;
      const { id, body, status } = delivered;
      const known = bodies.get(id);
      if (known !== undefined && known !== body) fail(`message ${id} has changed`);
      bodies.set(id, body);
      const { type, data } = JSON.parse(body);
      const isAccepted = status !== undefined && isSuccess(status);
      if (type === 'leagues.changed') {
        if (known === undefined) {
          const follows = last.isAccepted && data.from_seq === last.to + 1;
          if (!follows && data.from_seq !== (moved ?? Number.NaN) + 1) fail(`a gap: ${last.to}, then ${data.from_seq}`);
          moved = undefined;
          last = { to: data.to_seq, isAccepted };
        } else if (data.to_seq === last.to) last = { to: last.to, isAccepted: last.isAccepted || isAccepted };
        return;
      }
      if (known !== undefined) return;
      if (type === 'data.fresh' && !sent.stale) fail('data.fresh without data.stale');
      if (type === 'credentials.accepted' && !sent.refused) fail('credentials.accepted without credentials.refused');
      if (type === 'data.stale' || type === 'data.fresh') sent.stale = type === 'data.stale';
      if (type.startsWith('credentials')) sent.refused = type === 'credentials.refused';
    },
  };
}

const GOOD = ['changed', 'unchanged', 'held'];
const STATE = `SELECT (SELECT coalesce(max(seq), 0) FROM league_changes) AS seq,
  (SELECT json_group_array(league_id) FROM leagues WHERE removed_at IS NULL) AS live`;
/** Everything that must hold in a database that nobody has open; `unequal`: a league whose last change is another. */
const WHOLE = `SELECT (SELECT coalesce(max(seq), 0) FROM league_changes) AS seq,
  (SELECT json_group_array(json_array(id, outcome)) FROM runs) AS outcomes,
  (SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY seq) AS before FROM league_changes) WHERE at < before) AS changes,
  (SELECT count(*) FROM (SELECT finished_at AS at, lag(finished_at) OVER (ORDER BY id) AS before FROM runs
    WHERE outcome IN ('changed', 'unchanged', 'held')) WHERE at <= before) AS runs,
  (SELECT count(*) FROM runs WHERE outcome = 'running') > 1 AS running,
  (SELECT max(league_id) FROM leagues
    LEFT JOIN (SELECT league_id, kind, after, max(seq) FROM league_changes GROUP BY league_id) USING (league_id)
    WHERE kind IS NULL OR (kind = 'removed') <> (removed_at IS NOT NULL)
      OR (kind <> 'removed' AND (after ->> 'league_name' <> league_name OR after ->> 'priority' <> priority))) AS unequal`;
