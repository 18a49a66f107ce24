-- Generated from src/store/schema.ts, then edited by hand: checks and the view `attention`, which gets its last part.
-- Never edited after release. It must work in SQLite 3.38 and newer, as 0001_attention.sql and 0000_initial.sql say.
CREATE TABLE `webhook` (
	`id` INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
	`enabled` INTEGER NOT NULL CHECK (enabled IN (0, 1)),
	`host` TEXT,
	`url_hash` TEXT,
	`accepted_seq` INTEGER NOT NULL CHECK (accepted_seq >= 0),
	`accepted_at` TEXT CHECK (accepted_at GLOB '????-??-??T??:??:??.???Z'),
	`moved_at` TEXT NOT NULL CHECK (moved_at GLOB '????-??-??T??:??:??.???Z'),
	`message_id` TEXT,
	`message_type` TEXT,
	`message_made_at` TEXT CHECK (message_made_at GLOB '????-??-??T??:??:??.???Z'),
	`message_from_seq` INTEGER,
	`message_to_seq` INTEGER,
	`message_held_since` TEXT,
	`message_body` TEXT CHECK (message_body IS NULL OR json_valid(message_body)),
	`failed_attempts` INTEGER DEFAULT 0 NOT NULL,
	`last_error` TEXT,
	`next_attempt_at` TEXT CHECK (next_attempt_at GLOB '????-??-??T??:??:??.???Z'),
	`not_before` TEXT CHECK (not_before GLOB '????-??-??T??:??:??.???Z'),
	`stopped_at` TEXT CHECK (stopped_at GLOB '????-??-??T??:??:??.???Z'),
	`told_stale` INTEGER NOT NULL CHECK (told_stale IN (0, 1)),
	`told_held_since` TEXT,
	`told_refused` INTEGER NOT NULL CHECK (told_refused IN (0, 1)),
	CHECK (message_id IS NULL OR (message_type IS NOT NULL AND message_made_at IS NOT NULL AND message_body IS NOT NULL)),
	CHECK ((message_from_seq IS NULL) = (message_to_seq IS NULL))
) STRICT;
--> statement-breakpoint
DROP VIEW `attention`;
--> statement-breakpoint
CREATE VIEW `attention` AS
WITH
	clock AS (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS now),
	success AS (
		SELECT id, scope, started_at, finished_at, stale_at FROM runs
		WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')
		ORDER BY id DESC LIMIT 1
	),
	last_poll AS (
		SELECT outcome, error_kind, error_message, not_before FROM runs
		WHERE kind = 'leagues' AND outcome NOT IN ('running', 'interrupted')
		ORDER BY id DESC LIMIT 1
	),
	failed AS (
		SELECT count(*) AS polls, min(started_at) AS since FROM runs
		WHERE kind = 'leagues' AND outcome = 'failed' AND id > coalesce((SELECT id FROM success), 0)
	),
	last_login AS (SELECT outcome, error_message FROM logins ORDER BY id DESC LIMIT 1),
	held AS (
		SELECT row_number() OVER (ORDER BY held_since, league_name, league_id) AS place, *
		FROM held_leagues WHERE accepted_at IS NULL
	),
	why_held AS (
		SELECT count(*) AS removals, CASE reason
			WHEN 'empty-list' THEN 'because the list was empty'
			WHEN 'unreadable-elements' THEN
				'because list elements without a readable league_id could be any of the missing leagues'
			WHEN 'limit' THEN 'because too many leagues were missing at once' END AS why
		FROM held WHERE reason IS NOT NULL GROUP BY reason ORDER BY min(held_since), reason
	),
	rejected AS (SELECT * FROM rejected_leagues WHERE resolved_at IS NULL),
	new_drift AS (
		SELECT row_number() OVER (ORDER BY first_seen_at, field, kind, detail) AS place, *
		FROM drift WHERE first_seen_at >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-7 days')
	),
	last_runs AS (
		SELECT * FROM (SELECT * FROM runs WHERE kind = 'leagues' ORDER BY id DESC LIMIT 1)
		UNION ALL
		SELECT * FROM (SELECT * FROM runs WHERE kind = 'profile' ORDER BY id DESC LIMIT 1)
	),
	feed AS (
		SELECT (SELECT max(seq) FROM league_changes) - accepted_seq AS changes,
			(SELECT at FROM league_changes WHERE seq > accepted_seq ORDER BY seq LIMIT 1) AS first_at
		FROM webhook
	),
	pending AS (
		SELECT host, stopped_at, last_error, accepted_seq, changes, max(
			moved_at, coalesce(accepted_at, moved_at),
			min(coalesce(first_at, message_made_at), coalesce(message_made_at, first_at))) AS since
		FROM webhook, feed WHERE enabled
	)
SELECT
	iif(id IS NULL, (SELECT started_at FROM runs WHERE kind = 'leagues' ORDER BY id LIMIT 1), coalesce(stale_at, finished_at))
		AS since,
	'stale' AS what,
	NULL AS count,
	coalesce(
		iif(started_at > now, 'The leagues may be stale: the clock was set back. The', 'The leagues are stale: the')
			|| ' last good poll ended at ' || replace(substr(finished_at, 1, 19), 'T', ' ') || ' UTC.',
		'No poll of the leagues has succeeded yet.') AS summary,
	'Start the worker if none runs: league-sync run. If one runs, league-sync check names the cause and the fix.'
		AS what_to_do
-- stale_at is NULL until a worker has started after the upgrade from version 0.1.0. If the clock was set back by more
-- than the time for which data is fresh, only the next good poll can tell.
FROM clock LEFT JOIN success
WHERE id IS NULL OR stale_at IS NULL OR stale_at <= now
	OR julianday(started_at) - julianday(now) > julianday(stale_at) - julianday(started_at)
UNION ALL
SELECT since, 'failing', polls,
	iif(polls > 1, 'The last ' || polls || ' polls', 'The last poll') || ' of the leagues failed: '
		|| CASE
			WHEN error_kind = 'credentials' AND (SELECT outcome FROM last_login) = 'refused'
				THEN 'the service refuses the credentials.'
			ELSE coalesce(error_message, 'the reason is not known.') END,
	iif(not_before > now,
		'Wait: the service asked for no requests before ' || replace(substr(not_before, 1, 19), 'T', ' ')
			|| ' UTC (Retry-After). A running worker polls then.',
		iif(error_kind = 'credentials',
			'A running worker tries again after growing pauses of up to an hour, and at once after SIGHUP.',
			'A running worker polls again on schedule; start one if none runs: league-sync run. If polls keep failing,'
			|| ' league-sync check names the cause and the fix.'))
FROM clock, failed, last_poll WHERE outcome = 'failed'
UNION ALL
SELECT (SELECT at FROM logins
		WHERE id > coalesce((SELECT id FROM logins WHERE outcome <> 'refused' ORDER BY id DESC LIMIT 1), 0)
		ORDER BY id LIMIT 1),
	'credentials-refused', NULL, coalesce(error_message, 'The service refused the login.'),
	'Correct LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD; if they are right, ask for API access to be enabled. A worker'
		|| ' notices changed secret files by itself; restart it after other changes. league-sync check tests the login.'
FROM last_login WHERE outcome = 'refused'
UNION ALL
SELECT min(held_since), 'held-removals', count(*),
	iif(count(*) = 1, 'The removal of 1 league is held', 'The removal of ' || count(*) || ' leagues is held')
		|| coalesce((SELECT ', ' || iif(sum(removals) = (SELECT count(*) FROM held) AND count(*) = 1, min(why),
			group_concat(removals || ' ' || why, ', ')) FROM why_held), '')
		|| ': ' || group_concat(substr(coalesce(league_name, league_id), 1, 60), ', ') FILTER (WHERE place <= 3)
		|| iif(count(*) > 3, ' and ' || (count(*) - 3) || ' more.', '.'),
	iif(EXISTS (SELECT 1 FROM rejected WHERE league_id IS NULL AND scope = (SELECT scope FROM success)),
		'No removal is applied while the list has elements without a readable league_id, not even an accepted one: tell the'
			|| ' operator of the service. If the leagues are then really gone, run league-sync accept-removals.',
		'If these leagues are really gone, run league-sync accept-removals. If not, tell the operator of the service: a'
			|| ' league that is listed again is kept.')
FROM held GROUP BY NULL
UNION ALL
SELECT min(first_seen_at), 'rejected-leagues', count(*),
	iif(count(*) = 1, '1 list element cannot be stored, ', count(*) || ' list elements cannot be stored, such as ')
		|| (SELECT 'leagues[' || position || ']'
				|| coalesce(' (league_id ' || substr(league_id, 1, 60) || ')', '') || ':'
				|| coalesce(' ' || nullif(problems ->> '$[0].path', ''), '')
				|| ' ' || coalesce(substr(problems ->> '$[0].message', 1, 200), 'it is not valid')
			FROM rejected ORDER BY id LIMIT 1) || '.',
	'Tell the operator of the service. Until it is fixed, the stored rows of these leagues stay as they are.'
		|| ' The elements are in the table rejected_leagues.'
FROM rejected GROUP BY NULL
UNION ALL
SELECT min(first_seen_at), 'drift', count(*),
	'In the last 7 days, the service began to depart from its interface: '
		|| group_concat(field || ' ' || kind || ' (' || detail || ')', ', ') FILTER (WHERE place <= 3)
		|| iif(count(*) > 3, ' and ' || (count(*) - 3) || ' more.', '.'),
	'Check whether the programs that read these fields can cope. The values are stored where possible; the table drift'
		|| ' has all departures and, where one is known, a league that shows it.'
FROM new_drift GROUP BY NULL
UNION ALL
SELECT started_at, 'interrupted', NULL,
	'A poll of the ' || kind || ' was cut short. ' || coalesce(error_message, ''),
	iif(kind = 'leagues', 'Start the worker if none runs: league-sync run. Its next poll makes up for this one.',
		'The next poll of the profile makes up for this one: that of a worker, or league-sync profile.')
FROM last_runs WHERE outcome = 'interrupted'
UNION ALL
SELECT iif(stopped_at IS NULL, pending.since, stopped_at), 'webhook', coalesce(changes, 0),
	iif(stopped_at IS NULL,
		'The webhook at ' || host || ' has accepted nothing since ' || replace(substr(pending.since, 1, 19), 'T', ' ')
			|| ' UTC',
		'The webhook at ' || host || ' answered 410 (Gone), so nothing more is sent')
		|| iif(changes > 0, iif(changes = 1, ': 1 change is', ': ' || changes || ' changes are') || ' pending', '')
		|| iif(stopped_at IS NULL, coalesce(' (' || last_error || ')', ''), '') || '.',
	iif(stopped_at IS NULL,
		'Start the worker if none runs: league-sync run. If one runs, it goes on trying; league-sync webhook test sends a test'
			|| ' message and says what comes back.',
		'Correct LEAGUE_SYNC_WEBHOOK_URL, or send to the same address again: league-sync webhook replay --since '
			|| accepted_seq || '.')
		|| ' To give up what is pending: league-sync webhook skip.'
FROM pending
WHERE stopped_at IS NOT NULL OR pending.since <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour');
