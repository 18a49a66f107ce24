-- Generated from src/store/schema.ts, then edited by hand: checks, views, triggers. Released with 0.2.0: never changed again.
-- The views must work in SQLite 3.38 and newer: no HAVING without GROUP BY, no concat_ws, no ORDER BY in aggregates.
-- GROUP BY NULL makes no row if there is nothing to count.
-- SQLite checks all rows anew for each column that is added to a STRICT table: 800,000 runs take some 100 s. Moving the rows
-- meanwhile would take a third of that, but delete what other programs' tables say of them, and fire their triggers.
ALTER TABLE `runs` ADD `stale_at` TEXT CHECK (stale_at GLOB '????-??-??T??:??:??.???Z');
--> statement-breakpoint
ALTER TABLE `runs` ADD `quiet_fields` TEXT;
--> statement-breakpoint
-- In whole numbers, since julianday() is not exact.
ALTER TABLE `runs` ADD `duration_ms` INTEGER GENERATED ALWAYS AS (
	(unixepoch(finished_at) - unixepoch(started_at)) * 1000 + substr(finished_at, 21, 3) - substr(started_at, 21, 3)
) VIRTUAL;
--> statement-breakpoint
ALTER TABLE `runs` ADD `unusual_change` TEXT CHECK (unusual_change IS NULL OR json_valid(unusual_change));
--> statement-breakpoint
-- Like the next one, it costs nothing to a poll that is not in it.
CREATE INDEX `runs_unusual` ON `runs` (`finished_at`) WHERE unusual_change IS NOT NULL;
--> statement-breakpoint
ALTER TABLE `logins` ADD `run_id` INTEGER;
--> statement-breakpoint
ALTER TABLE `held_removals` ADD `reason` TEXT CHECK (reason IN ('empty-list', 'unreadable-elements', 'limit'));
--> statement-breakpoint
ALTER TABLE `drift` ADD `example_league_id` TEXT;
--> statement-breakpoint
-- What version 0.1.0 called absent for any, which was no type.
UPDATE `drift` SET detail = 'not sent' WHERE kind = 'missing-field' AND detail LIKE 'absent for %';
--> statement-breakpoint
-- Finds the last run of the profile among the many of the leagues.
CREATE INDEX `runs_of_profile` ON `runs` (`id`) WHERE kind = 'profile';
--> statement-breakpoint
-- How many polls of the leagues have failed in a row, up to this one, and which was the last good one before them. Kept
-- by triggers in the rows of failed polls: otherwise both would have to be counted, and an index would cost each poll a
-- page.
ALTER TABLE `runs` ADD `failures` INTEGER DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `runs` ADD `good_run_id` INTEGER;
--> statement-breakpoint
UPDATE runs SET good_run_id = failed.good_run_id, failures = failed.failures
FROM (
	SELECT id, good_run_id, row_number() OVER (PARTITION BY good_run_id ORDER BY id) AS failures
	FROM (
		SELECT id, outcome, max(iif(outcome = 'failed', NULL, id)) OVER (ORDER BY id) AS good_run_id
		FROM runs WHERE kind = 'leagues' AND outcome NOT IN ('running', 'interrupted'))
	WHERE outcome = 'failed'
) AS failed
WHERE runs.id = failed.id;
--> statement-breakpoint
-- Finds each series of failed polls: all that follow the same good one.
CREATE INDEX `runs_failed` ON `runs` (`good_run_id`) WHERE kind = 'leagues' AND outcome = 'failed';
--> statement-breakpoint
CREATE TRIGGER `runs_count_failure` AFTER UPDATE OF `outcome` ON `runs` WHEN NEW.kind = 'leagues' AND NEW.outcome = 'failed'
BEGIN
	UPDATE runs SET (failures, good_run_id) = (
		SELECT 1 + coalesce(failures, 0), iif(outcome = 'failed', good_run_id, id) FROM (SELECT 1) LEFT JOIN (
			SELECT id, outcome, failures, good_run_id FROM runs
			WHERE kind = 'leagues' AND id < NEW.id AND outcome NOT IN ('running', 'interrupted')
			ORDER BY id DESC LIMIT 1))
	WHERE id = NEW.id;
END;
--> statement-breakpoint
CREATE TRIGGER `runs_count_failure_at_once` AFTER INSERT ON `runs` WHEN NEW.kind = 'leagues' AND NEW.outcome = 'failed'
BEGIN UPDATE runs SET outcome = NEW.outcome WHERE id = NEW.id; END;
--> statement-breakpoint
-- The newest polls of the leagues that ended, and that ended well.
CREATE VIEW `last_polls` AS
SELECT last.id, last.outcome, last.failures, iif(last.outcome = 'failed', last.good_run_id, last.id) AS good_run_id
FROM runs AS last WHERE last.kind = 'leagues' AND last.outcome NOT IN ('running', 'interrupted')
ORDER BY last.id DESC LIMIT 1;
--> statement-breakpoint
-- Goes from series to series in the index, since one may have very many polls. The last one, at NULL, has no good poll
-- before it.
-- Newest first, as the recursion finds them: an ORDER BY would read them all for the first three.
CREATE VIEW `outages` AS
WITH RECURSIVE series AS (
	SELECT max(good_run_id) AS good_run_id FROM runs WHERE kind = 'leagues' AND outcome = 'failed'
	UNION ALL
	SELECT (SELECT max(good_run_id) FROM runs
		WHERE kind = 'leagues' AND outcome = 'failed' AND good_run_id < series.good_run_id)
	FROM series WHERE good_run_id IS NOT NULL
)
SELECT
	first.started_at AS since,
	next.finished_at AS until,
	good.finished_at AS last_good_at,
	next.finished_at AS next_good_at,
	last.failures AS failed_polls,
	CASE WHEN series.good_run_id IS NULL THEN first.started_at
		WHEN good.stale_at < coalesce(next.finished_at, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN good.stale_at
		END AS stale_since,
	last.error_message,
	last.service_message
FROM series
CROSS JOIN runs AS first ON first.id = (
	SELECT min(id) FROM runs WHERE kind = 'leagues' AND outcome = 'failed' AND good_run_id IS series.good_run_id)
CROSS JOIN runs AS last ON last.id = (
	SELECT max(id) FROM runs WHERE kind = 'leagues' AND outcome = 'failed' AND good_run_id IS series.good_run_id)
LEFT JOIN runs AS good ON good.id = series.good_run_id
LEFT JOIN runs AS next ON next.id = (
	SELECT id FROM runs WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held') AND id > last.id
	ORDER BY id LIMIT 1);
--> statement-breakpoint
CREATE TABLE `database_identity` (
	`id` TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 32),
	`base_url` TEXT
) STRICT;
--> statement-breakpoint
INSERT INTO `database_identity` (id) VALUES (lower(hex(randomblob(16))));
--> statement-breakpoint
CREATE TABLE `poll_requests` (
	`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
	`asked_at` TEXT NOT NULL CHECK (asked_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
--> statement-breakpoint
CREATE TABLE `outputs` (
	`name` TEXT PRIMARY KEY NOT NULL CHECK (name IN ('webhook', 'mirror', 'copy')),
	`label` TEXT NOT NULL,
	`seq` INTEGER CHECK (seq >= 0),
	`done_at` TEXT CHECK (done_at GLOB '????-??-??T??:??:??.???Z'),
	`failed_attempts` INTEGER DEFAULT 0 NOT NULL CHECK ((failed_attempts > 0) = (failing_since IS NOT NULL)),
	`failing_since` TEXT CHECK (failing_since GLOB '????-??-??T??:??:??.???Z'),
	`last_error` TEXT,
	`next_attempt_at` TEXT CHECK (next_attempt_at GLOB '????-??-??T??:??:??.???Z'),
	`refused` INTEGER DEFAULT 0 NOT NULL CHECK (refused IN (0, 1)),
	`fed_by` TEXT DEFAULT 'worker' NOT NULL CHECK (fed_by IN ('worker', 'command'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `webhook` (
	`id` INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
	`url_hash` TEXT,
	`accepted_seq` INTEGER NOT NULL CHECK (accepted_seq >= 0),
	`moved_at` TEXT NOT NULL CHECK (moved_at GLOB '????-??-??T??:??:??.???Z'),
	`message_id` TEXT,
	`message_type` TEXT,
	`message_made_at` TEXT CHECK (message_made_at GLOB '????-??-??T??:??:??.???Z'),
	`message_from_seq` INTEGER,
	`message_to_seq` INTEGER,
	`message_held_since` TEXT,
	`message_body` TEXT CHECK (message_body IS NULL OR json_valid(message_body)),
	`not_before` TEXT CHECK (not_before GLOB '????-??-??T??:??:??.???Z'),
	`stopped_at` TEXT CHECK (stopped_at GLOB '????-??-??T??:??:??.???Z'),
	`announced_stale` INTEGER CHECK (announced_stale IN (0, 1)),
	`announced_held_since` TEXT,
	`announced_refused` INTEGER CHECK (announced_refused IN (0, 1)),
	CHECK (message_id IS NULL OR (message_type IS NOT NULL AND message_made_at IS NOT NULL AND message_body IS NOT NULL)),
	CHECK ((message_from_seq IS NULL) = (message_to_seq IS NULL))
) STRICT;
--> statement-breakpoint
CREATE TRIGGER `leagues_no_delete` BEFORE DELETE ON `leagues`
BEGIN SELECT RAISE(ABORT, 'leagues keeps every league: a removed one has removed_at'); END;
--> statement-breakpoint
DROP VIEW `active_leagues`;
--> statement-breakpoint
CREATE VIEW `active_leagues` AS
SELECT league_id, league_name, sport, league_image, priority, status, sport_db_id, active_season_type, active_year,
	external_id, external_odds_id, default_markets, default_tournaments, rankings, active_poll, state, city,
	create_datetime, last_update_datetime, extra, first_seen_at, changed_at,
	EXISTS (SELECT 1 FROM held_removals WHERE held_removals.league_id = leagues.league_id) AS held
FROM leagues
WHERE removed_at IS NULL AND status = 'active'
ORDER BY priority, league_name, league_id;
--> statement-breakpoint
DROP VIEW `league_field_changes`;
--> statement-breakpoint
CREATE VIEW `league_field_changes` AS
SELECT change.seq, change.run_id, change.at, change.league_id,
	change.after ->> '$.league_name' AS league_name,
	field.key AS field,
	CASE WHEN field.key IN ('default_markets', 'extra')
		THEN nullif(change.before -> field.fullkey, 'null') ELSE field.value END AS old_value,
	CASE WHEN field.key IN ('default_markets', 'extra')
		THEN nullif(change.after -> field.fullkey, 'null') ELSE change.after ->> field.fullkey END AS new_value,
	change.kind
FROM league_changes AS change, json_each(change.before) AS field
WHERE change.kind IN ('changed', 'restored');
--> statement-breakpoint
CREATE VIEW `held_leagues` AS
SELECT held_removals.league_id, leagues.league_name, held_removals.held_since, held_removals.accepted_at,
	held_removals.reason
FROM held_removals LEFT JOIN leagues ON leagues.league_id = held_removals.league_id
ORDER BY held_removals.held_since, leagues.league_name, held_removals.league_id;
--> statement-breakpoint
DROP VIEW `freshness`;
--> statement-breakpoint
CREATE VIEW `freshness` AS
WITH success AS (
	-- An end that lies in the future is kept up by the order of instants, after the clock was set back.
	SELECT finished_at, iif(unixepoch(finished_at) > unixepoch('now'), started_at, finished_at) AS at, stale_at
	FROM runs WHERE id = (SELECT good_run_id FROM last_polls)
)
SELECT
	(SELECT finished_at FROM success) AS last_success_at,
	(SELECT max(0, unixepoch('now') - unixepoch(at)) FROM success) AS age_seconds,
	(SELECT outcome FROM runs WHERE kind = 'leagues' AND outcome <> 'running' ORDER BY id DESC LIMIT 1) AS last_outcome,
	coalesce((SELECT failures FROM last_polls), 0) AS consecutive_failures,
	-- Both counts are in an index: where leagues are many, reading their rows takes a hundred times as long.
	(SELECT count(*) FROM leagues) - (SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL) AS live_leagues,
	(SELECT count(*) FROM leagues) - (SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL)
		- (SELECT count(*) FROM held_removals) AS listed_leagues,
	(SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL) AS removed_leagues,
	(SELECT count(*) FROM held_removals) AS held_removals,
	(SELECT count(*) FROM rejected_leagues WHERE resolved_at IS NULL) AS open_rejections,
	(SELECT stale_at FROM success) AS stale_at;
--> statement-breakpoint
CREATE VIEW `attention` AS
WITH
	clock AS (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS now),
	success AS (
		SELECT id, scope, started_at, finished_at, stale_at FROM runs WHERE id = (SELECT good_run_id FROM last_polls)
	),
	failed AS (
		SELECT failures AS polls, error_kind, error_message, not_before,
			(SELECT started_at FROM runs WHERE kind = 'leagues' AND outcome = 'failed' AND id > coalesce(last.good_run_id, 0)
				ORDER BY id LIMIT 1) AS since
		FROM runs AS last WHERE outcome = 'failed' AND id = (SELECT id FROM last_polls)
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
		FROM drift WHERE first_seen_at >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')
	),
	unusual AS (
		SELECT * FROM runs
		WHERE unusual_change IS NOT NULL AND finished_at >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day')
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
		SELECT label AS host, stopped_at, last_error, accepted_seq, changes, max(
			moved_at, coalesce(done_at, moved_at),
			min(coalesce(first_at, message_made_at), coalesce(message_made_at, first_at))) AS since
		FROM webhook, feed, outputs WHERE name = 'webhook'
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
-- A poll of version 0.1.0 has no stale_at. If the clock was set back by more than the time for which data is fresh, only
-- the next good poll can tell.
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
			'The worker tries again by itself. If it keeps failing: league-sync check.'))
FROM clock, failed
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
		'The list has elements without a readable league_id, which could be any of these leagues: tell the operator of the'
			|| ' service. Run league-sync accept-removals only for leagues that are really gone. One that is listed again is kept,'
			|| ' or restored.',
		'If these leagues are really gone, run league-sync accept-removals. If not, tell the operator of the service: a'
			|| ' league that is listed again is kept.')
FROM held GROUP BY NULL
UNION ALL
SELECT min(first_seen_at), 'rejected-leagues', count(*),
	iif(count(*) = 1, '1 list element cannot be stored, ', count(*) || ' list elements cannot be stored, such as ')
		|| (SELECT coalesce('that with the league_id ' || substr(league_id, 1, 60), 'one without a readable league_id') || ':'
				|| coalesce(' ' || nullif(problems ->> '$[0].path', ''), '')
				|| ' ' || coalesce(substr(problems ->> '$[0].message', 1, 200), 'it is not valid')
			FROM rejected ORDER BY id LIMIT 1) || '.',
	'Tell the operator of the service. Until it is fixed, the stored rows of these leagues stay as they are.'
		|| ' The elements are in the table rejected_leagues.'
FROM rejected GROUP BY NULL
UNION ALL
SELECT min(first_seen_at), 'drift', count(*),
	'In the last day, the service began to depart from its interface: '
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
-- A run that a signal stopped has an end.
FROM last_runs WHERE outcome = 'interrupted' AND finished_at IS NULL
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
WHERE stopped_at IS NOT NULL OR pending.since <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour')
UNION ALL
SELECT failing_since, name, iif(name = 'mirror', (SELECT max(seq) FROM league_changes) - coalesce(seq, 0), NULL),
	CASE name WHEN 'mirror' THEN 'The mirror' WHEN 'copy' THEN 'The published copy' ELSE 'The output ' || name END
		|| ' at ' || label || ' has not been '
		|| iif(done_at IS NULL, 'written yet: ', 'written since ' || replace(substr(done_at, 1, 19), 'T', ' ') || ' UTC: ')
		|| rtrim(coalesce(last_error, 'the reason is not known'), '.') || '.',
	iif(refused, 'Nothing more is written to it until that is done.', 'The worker tries again by itself.')
		|| ' league-sync check names the cause and the fix.'
FROM outputs
WHERE name <> 'webhook' AND (refused OR failing_since <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour'))
UNION ALL
SELECT min(finished_at), 'unusual-change', NULL,
	iif(count(*) = 1, 'A poll', count(*) || ' polls') || ' of the last day changed the same field of many leagues at once: '
		|| (SELECT group_concat((value ->> 'field') || ' of ' || (value ->> 'count') || ' leagues', ', ')
			FROM json_each((SELECT unusual_change FROM unusual ORDER BY id DESC LIMIT 1)))
		|| iif(count(*) = 1, '.', ' in the last one.'),
	'If this is meant, nothing. To see each change: league-sync changes --since ' || min(finished_at) || '.'
FROM unusual GROUP BY NULL;
--> statement-breakpoint
CREATE VIEW `about` AS
WITH
	last_change AS (SELECT seq, run_id, at, league_id FROM league_changes ORDER BY seq DESC LIMIT 1),
	-- What the statements below ask for, so that they find something in this very file.
	example AS (
		SELECT
			quote(coalesce((SELECT league_name FROM leagues, last_change USING (league_id)), 'NBA')) AS name,
			coalesce((SELECT run_id FROM last_change), 1) AS run,
			coalesce((SELECT seq - 1 FROM last_change), 0) AS cursor,
			coalesce((SELECT at FROM league_changes ORDER BY seq LIMIT 1), '2026-11-20T12:00:00.000Z') AS first,
			coalesce((SELECT at FROM league_changes WHERE seq <= (SELECT seq / 2 FROM last_change) ORDER BY seq DESC LIMIT 1),
				(SELECT at FROM last_change), '2026-11-20T12:00:00.000Z') AS instant,
			coalesce((SELECT at FROM last_change), '2026-11-20T12:00:00.000Z') AS last
	)
SELECT 'about' AS topic, 'this file' AS subject,
	'The leagues of a sports service, and the history of their changes. league-sync polls the service and keeps this file'
		|| ' up to date; other programs only read it.' AS answer
UNION ALL SELECT 'about', 'state now',
	'Up to date: ' || listed_leagues || ' leagues listed.' FROM freshness
	WHERE NOT EXISTS (SELECT 1 FROM attention WHERE what <> 'unusual-change')
UNION ALL SELECT 'about', 'look at', summary FROM attention
UNION ALL SELECT 'about', 'last good poll', coalesce(last_success_at, 'none yet') FROM freshness
UNION ALL SELECT 'about', 'written by',
	'league-sync' || coalesce((SELECT ' ' || program_version FROM runs ORDER BY id DESC LIMIT 1), '')
		|| ', with schema ' || version || ' since ' || applied_at || '; the file was made at '
		|| (SELECT applied_at FROM schema_migrations WHERE version = 1) || '.'
	FROM (SELECT version, applied_at FROM schema_migrations ORDER BY version DESC LIMIT 1)
UNION ALL SELECT 'about', 'history', seq || ' changes, from ' || first || ' to ' || at || '. Nothing is known of the time'
	|| ' before: no rows then does not mean no leagues.' FROM last_change, example
UNION ALL SELECT 'about', 'id of this database', id FROM database_identity
UNION ALL SELECT 'about', column1, column2 FROM (VALUES
	('live, listed, held, removed', 'A league is live while removed_at is NULL. A live league is listed (the service sends it)'
		|| ' unless its removal is held (held_leagues): the list lacks it, but it is not removed yet.'),
	('instants', 'UTC text such as 2026-11-20T12:00:00.000Z, always with milliseconds. Text without them compares wrongly;'
		|| ' strftime(''%Y-%m-%dT%H:%M:%fZ'', ''2026-11-20 12:00'') makes an instant of what is shorter.'),
	('NULL', 'In the columns of a league that may be NULL (sport_db_id to last_update_datetime): the service sent null or nothing, or a'
		|| ' value that fits no column and is in extra.'),
	('polls', 'A row of runs is one poll, of the leagues or of the profile. It is good if its outcome is changed, unchanged or'
		|| ' held.'),
	('following the changes', 'Keep two values: the seq of the last change that you have handled, and the id of this database.'
		|| ' Ask for greater seq. With another id it is another feed: begin anew. Held removals, rejected elements and'
		|| ' staleness are never in the feed, but in held_leagues, rejected_leagues and attention.'))
UNION ALL SELECT 'begin with', column1, (SELECT description FROM data_dictionary WHERE object = column1 AND position = 0)
	FROM (VALUES ('attention'), ('freshness'), ('active_leagues'), ('leagues'), ('league_changes'), ('league_versions'),
		('league_field_changes'), ('held_leagues'), ('outages'), ('runs'), ('data_dictionary'))
-- The name comes last, since it may be anything.
UNION ALL SELECT 'ask', column1, replace(replace(replace(replace(replace(replace(column2,
	'<run>', run), '<cursor>', cursor), '<first>', first), '<instant>', instant), '<last>', last), '<name>', name)
FROM example, (VALUES
	('What should somebody look at, and what can be done about it?', 'SELECT * FROM attention'),
	('How fresh is the data, and is it stale?',
		'SELECT *, stale_at <= strftime(''%Y-%m-%dT%H:%M:%fZ'', ''now'') AS is_stale FROM freshness'),
	('How many leagues are live, listed, held and removed?',
		'SELECT live_leagues, listed_leagues, held_removals, removed_leagues FROM freshness'),
	('Which leagues are listed now?',
		'SELECT league_id, league_name, sport, status FROM leagues WHERE removed_at IS NULL AND league_id NOT IN'
			|| ' (SELECT league_id FROM held_removals) ORDER BY league_name'),
	('How many live leagues are active, and how many of these are held?',
		'SELECT count(*) AS active, sum(held) AS held FROM active_leagues'),
	('Which removals are held, why, since when, and what can be done?',
		'SELECT *, (SELECT what_to_do FROM attention WHERE what = ''held-removals'') AS what_to_do FROM'
			|| ' held_leagues'),
	('Which leagues are removed, and since when?',
		'SELECT league_id, league_name, removed_at FROM leagues WHERE removed_at IS NOT NULL ORDER BY removed_at'),
	('What is the whole history of a league?',
		'SELECT seq, at, kind, coalesce(after, before) ->> ''$.league_name'' AS league_name, before, after FROM'
			|| ' league_changes WHERE league_id IN (SELECT league_id FROM leagues WHERE league_name = <name> UNION SELECT'
			|| ' league_id FROM league_changes WHERE coalesce(after, before) ->> ''$.league_name'' = <name>) ORDER BY'
			|| ' seq'),
	('Which earlier values did a league have, and until when?',
		'SELECT at, league_name, field, old_value, new_value FROM league_field_changes WHERE league_id IN (SELECT'
			|| ' league_id FROM leagues WHERE league_name = <name>) ORDER BY seq'),
	('Which leagues left, which came back, and what is different since?',
		'SELECT change.at, change.kind, change.league_id, coalesce(change.after, change.before) ->>'
			|| ' ''$.league_name'' AS league_name, field, old_value, new_value FROM league_changes AS change LEFT JOIN'
			|| ' league_field_changes AS field ON field.seq = change.seq WHERE change.kind IN (''removed'','
			|| ' ''restored'') ORDER BY change.seq'),
	('Which leagues were live at an instant, and with which values?',
		'WITH asked AS (SELECT strftime(''%Y-%m-%dT%H:%M:%fZ'', ''<instant>'') AS instant) SELECT'
			|| ' league_versions.* FROM league_versions, asked WHERE valid_from <= instant AND (valid_to IS NULL OR'
			|| ' valid_to > instant) ORDER BY league_name'),
	('What was the value of a field at an instant?',
		'WITH asked AS (SELECT strftime(''%Y-%m-%dT%H:%M:%fZ'', ''<instant>'') AS instant) SELECT league_name,'
			|| ' status, valid_from, valid_to FROM league_versions, asked WHERE valid_from <= instant AND (valid_to IS'
			|| ' NULL OR valid_to > instant) AND league_id IN (SELECT league_id FROM leagues WHERE league_name = <name>)'),
	('What differs between two instants, field by field?',
		'WITH asked AS (SELECT strftime(''%Y-%m-%dT%H:%M:%fZ'', ''<first>'') AS earlier,'
			|| ' strftime(''%Y-%m-%dT%H:%M:%fZ'', ''<last>'') AS later), two AS (SELECT (SELECT after FROM'
			|| ' league_changes WHERE league_id = leagues.league_id AND at <= earlier ORDER BY at DESC LIMIT 1) AS old,'
			|| ' (SELECT after FROM league_changes WHERE league_id = leagues.league_id AND at <= later ORDER BY at DESC'
			|| ' LIMIT 1) AS new FROM leagues, asked) SELECT CASE WHEN old IS NULL THEN ''came'' WHEN new IS NULL THEN'
			|| ' ''went'' ELSE ''changed'' END AS difference, coalesce(new, old) ->> ''$.league_name'' AS league_name,'
			|| ' field.key AS field, old ->> field.fullkey AS old_value, new ->> field.fullkey AS new_value FROM two'
			|| ' LEFT JOIN json_each(new) AS field ON old IS NOT NULL AND old -> field.fullkey IS NOT new ->'
			|| ' field.fullkey WHERE old IS NOT new'),
	('Which leagues were added last, after the first poll?',
		'SELECT at, league_id, after ->> ''$.league_name'' AS league_name FROM league_changes WHERE kind ='
			|| ' ''added'' AND run_id > (SELECT run_id FROM league_changes ORDER BY seq LIMIT 1) ORDER BY seq DESC'
			|| ' LIMIT 10'),
	('How often did each league change?',
		'SELECT league_id, league_name, count(*) AS entries, sum(kind = ''changed'') AS changed, sum(kind ='
			|| ' ''removed'') AS removed, sum(kind = ''restored'') AS restored FROM league_changes JOIN leagues USING'
			|| ' (league_id) GROUP BY league_id ORDER BY entries DESC'),
	('What changed in one poll?',
		'SELECT change.kind, change.league_id, coalesce(change.after, change.before) ->> ''$.league_name'' AS'
			|| ' league_name, field, old_value, new_value FROM league_changes AS change LEFT JOIN league_field_changes'
			|| ' AS field ON field.seq = change.seq WHERE change.run_id = <run> ORDER BY change.seq'),
	('Which polls changed the same field of many leagues?',
		'SELECT id, finished_at, unusual_change FROM runs WHERE unusual_change IS NOT NULL ORDER BY finished_at'),
	('What is new after a cursor?',
		'SELECT (SELECT id FROM database_identity) AS database_id, * FROM league_changes WHERE seq > <cursor>'
			|| ' ORDER BY seq'),
	('Which elements are or were rejected, why, and from when until when?',
		'SELECT league_id, league_name, problems, rejected.first_seen_at, resolved_at, raw FROM rejected_leagues AS'
			|| ' rejected LEFT JOIN leagues USING (league_id) ORDER BY resolved_at IS NOT NULL, rejected.first_seen_at'),
	('Where does or did the service differ from its interface, since when, and which league showed it?',
		'SELECT field, kind, detail, drift.first_seen_at, example_league_id, league_name FROM drift LEFT JOIN leagues'
			|| ' ON league_id = example_league_id ORDER BY drift.first_seen_at'),
	('Which polls ran last, and how long did they take?',
		'SELECT id, kind, trigger, started_at, duration_ms, outcome, received, added, changed, restored, removed,'
			|| ' held, rejected, error_message FROM runs ORDER BY id DESC LIMIT 10'),
	('When did polls of the leagues fail, for how long, and what did the service say?',
		'SELECT since, until, round((julianday(coalesce(until, strftime(''%Y-%m-%dT%H:%M:%fZ'', ''now''))) -'
			|| ' julianday(since)) * 1440, 1) AS minutes, failed_polls, stale_since, error_message, service_message'
			|| ' FROM outages'),
	('When was the data stale, whether polls failed or no worker ran?',
		'SELECT stale_at AS stale_since, next_good_at AS fresh_again_at FROM (SELECT stale_at, lead(finished_at)'
			|| ' OVER (ORDER BY id) AS next_good_at FROM runs WHERE kind = ''leagues'' AND outcome IN (''changed'','
			|| ' ''unchanged'', ''held'')) WHERE stale_at < coalesce(next_good_at, strftime(''%Y-%m-%dT%H:%M:%fZ'','
			|| ' ''now''))'),
	('How did polls end, day by day?',
		'SELECT date(started_at) AS day, kind, outcome, count(*) AS polls FROM runs GROUP BY day, kind, outcome'
			|| ' ORDER BY day DESC, kind, outcome'),
	('Which polls were cut short, and how?',
		'SELECT id, kind, started_at, iif(finished_at IS NULL, ''a kill or a crash'', ''a signal'') AS'
			|| ' cut_short_by, error_message FROM runs WHERE outcome = ''interrupted'' ORDER BY id DESC'),
	('Which logins were refused, and for which poll?',
		'SELECT at, run_id, kind AS poll_of, login.error_message FROM logins AS login LEFT JOIN runs ON runs.id = run_id'
			|| ' WHERE login.outcome = ''refused'' ORDER BY login.id DESC'),
	('Whose account is it?',
		'SELECT player_id, username, first_name, last_name, changed_at FROM players ORDER BY changed_at DESC'),
	('What follows this database, and how far is it?',
		'SELECT name, label, seq, done_at, failing_since, last_error FROM outputs'),
	('What does a table or column mean?', 'SELECT * FROM data_dictionary WHERE object = ''leagues'' ORDER BY position'));
