// What the judge reads of a database.

export const tooOld = (before: string): string => `SELECT
  (SELECT count(*) FROM logins WHERE at < '${before}' AND id < (SELECT max(id) FROM logins)) AS logins,
  (SELECT count(*) FROM runs WHERE started_at < '${before}' AND kind = 'leagues' AND outcome = 'failed'
    AND id < (SELECT id FROM last_polls) AND id NOT IN (SELECT first_run_id FROM rejected_leagues)
    AND id NOT IN (SELECT first_run_id FROM held_removals) AND id NOT IN (SELECT first_run_id FROM drift)) AS runs`;
export const REST = `SELECT message_id, stopped_at, accepted_seq, announced_stale, announced_refused, announced_held_since,
  (SELECT max(held_since) FROM held_removals WHERE accepted_at IS NULL) AS held,
  (SELECT count(*) FROM sqlite_schema WHERE name LIKE 'refuse_%') AS refusals,
  (SELECT failed_attempts > 0 FROM outputs WHERE name = 'webhook') AS failing,
  (SELECT outcome FROM logins ORDER BY id DESC LIMIT 1) AS login FROM webhook`;
export const feed = (from: number, to: number): string => `SELECT json_object('seq', seq, 'run_id', run_id, 'at', at,
  'league_id', league_id, 'league_name', coalesce(after, before) ->> 'league_name', 'kind', kind, 'before', json(before),
  'after', json(after)) AS change FROM league_changes WHERE seq BETWEEN ${from} AND ${to} ORDER BY seq`;
export const LIVE = 'SELECT league_id FROM leagues WHERE removed_at IS NULL';
export const LAST_ENDED = `SELECT * FROM runs WHERE kind = 'leagues' AND outcome <> 'running' ORDER BY id DESC LIMIT 1`;
export const LAST_PROFILE = `SELECT max(finished_at) AS at FROM runs
  WHERE kind = 'profile' AND outcome IN ('changed', 'unchanged')`;
export const LAST_GOOD = `SELECT max(id) AS id FROM runs
  WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')`;
/** A profile that is no longer polled may stay interrupted. */
export const TO_DO = `SELECT what FROM attention
  WHERE what NOT IN ('drift', 'unusual-change') AND summary NOT LIKE 'A poll of the profile %'`;
export const STATE = `SELECT (SELECT coalesce(max(seq), 0) FROM league_changes) AS seq,
  (SELECT json_group_array(league_id) FROM leagues WHERE removed_at IS NULL) AS live,
  (SELECT json_group_array(json_array(league_id, league_name || ' ' || priority)) FROM leagues WHERE removed_at IS NULL)
    AS contents,
  (SELECT rejected FROM runs WHERE id = (SELECT good_run_id FROM last_polls)) AS rejected,
  (SELECT open_rejections FROM freshness) AS open,
  (SELECT count(*) FROM drift WHERE field = 'leagues[].broadcast_partner') AS drift,
  (SELECT json_group_array(json_array(league_id, held_since, reason)) FROM held_removals) AS held`;
export const LOGINS_READ = 5;
/**
 * Everything that must hold in a database that no program has open; `unequal`: a league whose last change is another;
 * `broken`: a change that does not begin where the one before it has ended; `miscounted`: a run whose counts do not add
 * up, or not to its changes.
 */
export const WHOLE = `SELECT (SELECT coalesce(max(seq), 0) FROM league_changes) AS seq,
  (SELECT json_group_array(json_array(id, outcome)) FROM runs) AS outcomes,
  (SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY seq) AS before FROM league_changes) WHERE at < before) AS changes,
  (SELECT count(*) FROM (SELECT finished_at AS at, lag(finished_at) OVER (ORDER BY id) AS before FROM runs
    WHERE outcome IN ('changed', 'unchanged', 'held')) WHERE at <= before) AS 'order',
  (SELECT count(*) FROM runs WHERE outcome = 'running') AS running,
  (SELECT max(id) FROM runs WHERE kind = 'leagues' AND attempts > 6) AS tries,
  (SELECT json_group_array(outcome) FROM (SELECT * FROM (SELECT id, outcome FROM logins ORDER BY id DESC LIMIT ${LOGINS_READ})
    ORDER BY id)) AS logins,
  (SELECT count(*) FROM (SELECT run_id AS id FROM league_changes UNION ALL SELECT first_run_id FROM rejected_leagues
      UNION ALL SELECT first_run_id FROM held_removals UNION ALL SELECT first_run_id FROM drift)
    WHERE id NOT IN (SELECT id FROM runs)) AS orphans,
  (SELECT max(id) FROM runs LEFT JOIN (
      SELECT run_id, json_array(count(*) FILTER (WHERE kind = 'added'), count(*) FILTER (WHERE kind = 'changed'),
        count(*) FILTER (WHERE kind = 'removed'), count(*) FILTER (WHERE kind = 'restored')) AS counts
      FROM league_changes GROUP BY run_id) ON run_id = id
    WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')
      AND (http_status <> 304 AND received <> added + changed + unchanged + restored + rejected + duplicates
        OR json_array(added, changed, removed, restored) <> coalesce(counts, '[0,0,0,0]'))) AS miscounted,
  (SELECT max(seq) FROM (SELECT seq, kind, before, lag(kind) OVER of_league AS last,
      lag(coalesce(after, before)) OVER of_league AS ended
      FROM league_changes WINDOW of_league AS (PARTITION BY league_id ORDER BY seq)) AS change
    WHERE CASE kind WHEN 'added' THEN last IS NOT NULL WHEN 'restored' THEN last IS NOT 'removed'
        ELSE coalesce(last, 'removed') = 'removed' OR before = '{}' END
      OR EXISTS (SELECT * FROM json_each(before) AS old WHERE old.value IS NOT ended ->> ('$.' || old.key))) AS broken,
  (SELECT max(league_id) FROM leagues
    LEFT JOIN (SELECT league_id, kind, after, at, max(seq) FROM league_changes GROUP BY league_id) USING (league_id)
    WHERE kind IS NULL OR first_seen_at <> (SELECT at FROM league_changes AS first WHERE first.league_id = leagues.league_id
        ORDER BY seq LIMIT 1) OR iif(kind = 'removed', removed_at, changed_at) <> at OR (kind = 'removed') <> (removed_at IS NOT NULL)
      OR (kind <> 'removed' AND (after ->> 'league_name' <> league_name OR after ->> 'priority' <> priority))) AS unequal`;
