-- Generated from src/store/schema.ts, then edited by hand: STRICT, checks, views, triggers. Never edited after release.
-- IS NULL is spelt out before json_valid, which older SQLite calls false for NULL.
-- Instants are ISO 8601 UTC text with milliseconds; flags are 0, 1 or NULL; JSON columns hold valid JSON.
CREATE TABLE `leagues` (
	`league_id` TEXT PRIMARY KEY NOT NULL CHECK (league_id <> ''),
	`league_name` TEXT NOT NULL,
	`sport` TEXT NOT NULL,
	`league_image` TEXT NOT NULL,
	`priority` ANY NOT NULL CHECK (typeof(priority) IN ('integer', 'real')),
	`status` TEXT NOT NULL,
	`sport_db_id` TEXT,
	`active_season_type` TEXT,
	`active_year` TEXT,
	`external_id` TEXT,
	`external_odds_id` TEXT,
	`default_markets` TEXT CHECK (default_markets IS NULL OR json_valid(default_markets)),
	`default_tournaments` INTEGER CHECK (default_tournaments IN (0, 1)),
	`rankings` INTEGER CHECK (rankings IN (0, 1)),
	`active_poll` TEXT,
	`state` TEXT,
	`city` TEXT,
	`create_datetime` ANY CHECK (typeof(create_datetime) <> 'blob'),
	`last_update_datetime` ANY CHECK (typeof(last_update_datetime) <> 'blob'),
	`extra` TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra) AND json_type(extra) = 'object'),
	`first_seen_at` TEXT NOT NULL CHECK (first_seen_at GLOB '????-??-??T??:??:??.???Z'),
	`changed_at` TEXT NOT NULL CHECK (changed_at GLOB '????-??-??T??:??:??.???Z'),
	`removed_at` TEXT CHECK (removed_at GLOB '????-??-??T??:??:??.???Z'),
	`content_hash` TEXT NOT NULL
) STRICT;
--> statement-breakpoint
-- Counts what is removed, and by that what is not, without reading the rows; a league that is listed costs it nothing.
CREATE INDEX `leagues_removed` ON `leagues` (`removed_at`) WHERE removed_at IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `league_changes` (
	`seq` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` INTEGER NOT NULL,
	`at` TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
	`league_id` TEXT NOT NULL,
	`kind` TEXT NOT NULL CHECK (kind IN ('added', 'changed', 'removed', 'restored')),
	`before` TEXT CHECK (before IS NULL OR json_valid(before)),
	`after` TEXT CHECK (after IS NULL OR json_valid(after)),
	CHECK ((before IS NULL) = (kind = 'added')),
	CHECK ((after IS NULL) = (kind = 'removed'))
) STRICT;
--> statement-breakpoint
-- With all that finds a version, so that the state at an instant is looked up without reading the versions themselves.
CREATE INDEX `league_changes_by_league` ON `league_changes` (`league_id`, `at`, `kind`);
--> statement-breakpoint
CREATE INDEX `league_changes_by_time` ON `league_changes` (`at`);
--> statement-breakpoint
CREATE TRIGGER `league_changes_no_update` BEFORE UPDATE ON `league_changes`
BEGIN SELECT RAISE(ABORT, 'league_changes is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `league_changes_no_delete` BEFORE DELETE ON `league_changes`
BEGIN SELECT RAISE(ABORT, 'league_changes is append-only'); END;
--> statement-breakpoint
-- REPLACE deletes without firing the trigger above. An automatic seq is not known yet here, and matches no row.
CREATE TRIGGER `league_changes_no_replace` BEFORE INSERT ON `league_changes`
WHEN EXISTS (SELECT 1 FROM league_changes WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'league_changes is append-only'); END;
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` INTEGER PRIMARY KEY NOT NULL,
	`kind` TEXT NOT NULL CHECK (kind IN ('leagues', 'profile')),
	`trigger` TEXT NOT NULL CHECK (trigger IN ('start', 'schedule', 'catch-up', 'manual')),
	`scope` TEXT CHECK (scope IN ('all', 'active', 'inactive')),
	`started_at` TEXT NOT NULL CHECK (started_at GLOB '????-??-??T??:??:??.???Z'),
	`finished_at` TEXT CHECK (finished_at GLOB '????-??-??T??:??:??.???Z'),
	`outcome` TEXT NOT NULL CHECK (outcome IN ('running', 'changed', 'unchanged', 'held', 'failed', 'interrupted')),
	`attempts` INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
	`http_status` INTEGER,
	`body_bytes` INTEGER CHECK (body_bytes >= 0),
	`received` INTEGER NOT NULL DEFAULT 0 CHECK (received >= 0),
	`added` INTEGER NOT NULL DEFAULT 0 CHECK (added >= 0),
	`changed` INTEGER NOT NULL DEFAULT 0 CHECK (changed >= 0),
	`unchanged` INTEGER NOT NULL DEFAULT 0 CHECK (unchanged >= 0),
	`restored` INTEGER NOT NULL DEFAULT 0 CHECK (restored >= 0),
	`rejected` INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
	`duplicates` INTEGER NOT NULL DEFAULT 0 CHECK (duplicates >= 0),
	`removed` INTEGER NOT NULL DEFAULT 0 CHECK (removed >= 0),
	`held` INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
	`error_kind` TEXT CHECK (error_kind IN ('network', 'timeout', 'status', 'contract', 'credentials', 'database', 'internal')),
	`error_message` TEXT,
	`service_message` TEXT,
	`service_timestamp` TEXT,
	`etag` TEXT,
	`last_modified` TEXT,
	`not_before` TEXT CHECK (not_before GLOB '????-??-??T??:??:??.???Z'),
	`fingerprint` TEXT,
	`program_version` TEXT,
	CHECK ((scope IS NULL) = (kind = 'profile')),
	CHECK (outcome NOT IN ('changed', 'unchanged', 'held')
		OR added + changed + unchanged + restored + rejected + duplicates = received)
) STRICT;
--> statement-breakpoint
-- What changed on which day, out of the few polls that found something. All others cost it nothing.
CREATE INDEX `runs_with_changes` ON `runs` (`finished_at`, `added`, `changed`, `restored`, `removed`)
	WHERE kind = 'leagues' AND added + changed + restored + removed > 0;
--> statement-breakpoint
CREATE TABLE `logins` (
	`id` INTEGER PRIMARY KEY NOT NULL,
	`at` TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
	`outcome` TEXT NOT NULL CHECK (outcome IN ('ok', 'refused', 'failed')),
	`reason` TEXT NOT NULL CHECK (reason IN ('start', 'due', 'rejected-token', 'manual')),
	`expires_at` TEXT CHECK (expires_at GLOB '????-??-??T??:??:??.???Z'),
	`clock_skew_ms` INTEGER,
	`error_message` TEXT,
	`not_before` TEXT CHECK (not_before GLOB '????-??-??T??:??:??.???Z'),
	`fingerprint` TEXT
) STRICT;
--> statement-breakpoint
CREATE TABLE `players` (
	`player_id` TEXT PRIMARY KEY NOT NULL CHECK (player_id <> ''),
	`username` TEXT,
	`email` TEXT,
	`type` TEXT,
	`verified` INTEGER CHECK (verified IN (0, 1)),
	`profile_pic` TEXT,
	`first_name` TEXT,
	`last_name` TEXT,
	`premium_items` TEXT CHECK (premium_items IS NULL OR json_valid(premium_items)),
	`extra` TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra) AND json_type(extra) = 'object'),
	`first_seen_at` TEXT NOT NULL CHECK (first_seen_at GLOB '????-??-??T??:??:??.???Z'),
	`changed_at` TEXT NOT NULL CHECK (changed_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
--> statement-breakpoint
CREATE TABLE `rejected_leagues` (
	`id` INTEGER PRIMARY KEY NOT NULL,
	`first_run_id` INTEGER NOT NULL,
	`league_id` TEXT,
	`position` INTEGER NOT NULL CHECK (position >= 0),
	`problems` TEXT NOT NULL CHECK (json_valid(problems) AND json_type(problems) = 'array'),
	`raw` TEXT NOT NULL CHECK (json_valid(raw)),
	`first_seen_at` TEXT NOT NULL CHECK (first_seen_at GLOB '????-??-??T??:??:??.???Z'),
	`resolved_at` TEXT CHECK (resolved_at GLOB '????-??-??T??:??:??.???Z'),
	`raw_hash` TEXT NOT NULL,
	`scope` TEXT NOT NULL CHECK (scope IN ('all', 'active', 'inactive'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `rejected_leagues_by_raw` ON `rejected_leagues` (`raw_hash`);
--> statement-breakpoint
-- Every poll looks for those that are open, which are few among all that ever were.
CREATE INDEX `rejected_leagues_open` ON `rejected_leagues` (`id`) WHERE resolved_at IS NULL;
--> statement-breakpoint
CREATE TABLE `held_removals` (
	`league_id` TEXT PRIMARY KEY NOT NULL,
	`first_run_id` INTEGER NOT NULL,
	`held_since` TEXT NOT NULL CHECK (held_since GLOB '????-??-??T??:??:??.???Z'),
	`accepted_at` TEXT CHECK (accepted_at GLOB '????-??-??T??:??:??.???Z'),
	`guard_since` TEXT CHECK (guard_since GLOB '????-??-??T??:??:??.???Z')
) STRICT;
--> statement-breakpoint
CREATE TABLE `drift` (
	`field` TEXT NOT NULL,
	`kind` TEXT NOT NULL CHECK (kind IN ('unknown-field', 'wrong-type', 'missing-field', 'unexpected-value')),
	`detail` TEXT NOT NULL,
	`first_run_id` INTEGER NOT NULL,
	`first_seen_at` TEXT NOT NULL CHECK (first_seen_at GLOB '????-??-??T??:??:??.???Z'),
	PRIMARY KEY (`field`, `kind`, `detail`)
) STRICT;
--> statement-breakpoint
-- Its rows are written by the program at each start, from src/store/description.ts.
CREATE TABLE `data_dictionary` (
	`object` TEXT NOT NULL,
	`object_type` TEXT NOT NULL CHECK (object_type IN ('table', 'view')),
	`position` INTEGER NOT NULL CHECK (position >= 0),
	`column_name` TEXT,
	`type` TEXT CHECK (type IN ('text', 'integer', 'number', 'boolean', 'instant', 'json', 'any')),
	`nullable` INTEGER CHECK (nullable IN (0, 1)),
	`description` TEXT NOT NULL,
	PRIMARY KEY (`object`, `position`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `schema_migrations` (
	`version` INTEGER PRIMARY KEY NOT NULL,
	`name` TEXT NOT NULL,
	`sha256` TEXT NOT NULL CHECK (length(sha256) = 64),
	`applied_at` TEXT NOT NULL CHECK (applied_at GLOB '????-??-??T??:??:??.???Z')
) STRICT;
--> statement-breakpoint
CREATE VIEW `active_leagues` AS
SELECT league_id, league_name, sport, league_image, priority, status, sport_db_id, active_season_type, active_year,
	external_id, external_odds_id, default_markets, default_tournaments, rankings, active_poll, state, city,
	create_datetime, last_update_datetime, extra, first_seen_at, changed_at
FROM leagues
WHERE removed_at IS NULL AND status = 'active'
ORDER BY priority, league_name, league_id;
--> statement-breakpoint
-- `entry` is read from the index by league alone, and only the versions that are asked for from the table: CROSS JOIN
-- keeps that order, and the plus keeps SQLite from taking the index by time instead, which is several times slower.
CREATE VIEW `league_versions` AS
SELECT entry.league_id,
	version.after ->> '$.league_name' AS league_name,
	version.after ->> '$.sport' AS sport,
	version.after ->> '$.league_image' AS league_image,
	version.after ->> '$.priority' AS priority,
	version.after ->> '$.status' AS status,
	version.after ->> '$.sport_db_id' AS sport_db_id,
	version.after ->> '$.active_season_type' AS active_season_type,
	version.after ->> '$.active_year' AS active_year,
	version.after ->> '$.external_id' AS external_id,
	version.after ->> '$.external_odds_id' AS external_odds_id,
	nullif(version.after -> '$.default_markets', 'null') AS default_markets,
	version.after ->> '$.default_tournaments' AS default_tournaments,
	version.after ->> '$.rankings' AS rankings,
	version.after ->> '$.active_poll' AS active_poll,
	version.after ->> '$.state' AS state,
	version.after ->> '$.city' AS city,
	version.after ->> '$.create_datetime' AS create_datetime,
	version.after ->> '$.last_update_datetime' AS last_update_datetime,
	version.after -> '$.extra' AS extra,
	+entry.at AS valid_from,
	(SELECT next.at FROM league_changes AS next
		WHERE next.league_id = entry.league_id AND next.at > entry.at
		ORDER BY next.at LIMIT 1) AS valid_to,
	entry.seq,
	version.run_id
FROM league_changes AS entry CROSS JOIN league_changes AS version ON version.seq = entry.seq
WHERE entry.kind <> 'removed';
--> statement-breakpoint
CREATE VIEW `league_field_changes` AS
SELECT change.seq, change.run_id, change.at, change.league_id,
	change.after ->> '$.league_name' AS league_name,
	field.key AS field,
	CASE WHEN field.key IN ('default_markets', 'extra')
		THEN nullif(change.before -> field.fullkey, 'null') ELSE field.value END AS old_value,
	CASE WHEN field.key IN ('default_markets', 'extra')
		THEN nullif(change.after -> field.fullkey, 'null') ELSE change.after ->> field.fullkey END AS new_value
FROM league_changes AS change, json_each(change.before) AS field
WHERE change.kind IN ('changed', 'restored');
--> statement-breakpoint
CREATE VIEW `freshness` AS
WITH success AS (
	-- An end that lies in the future is kept up by the order of instants, after the clock was set back.
	SELECT id, finished_at, iif(unixepoch(finished_at) > unixepoch('now'), started_at, finished_at) AS at FROM runs
	WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')
	ORDER BY id DESC LIMIT 1
)
SELECT
	(SELECT finished_at FROM success) AS last_success_at,
	(SELECT max(0, unixepoch('now') - unixepoch(at)) FROM success) AS age_seconds,
	(SELECT outcome FROM runs WHERE kind = 'leagues' AND outcome <> 'running' ORDER BY id DESC LIMIT 1) AS last_outcome,
	(SELECT count(*) FROM runs WHERE kind = 'leagues' AND outcome = 'failed'
		AND id > coalesce((SELECT id FROM success), 0)) AS consecutive_failures,
	-- Both counts are in an index: where leagues are many, reading their rows takes a hundred times as long.
	(SELECT count(*) FROM leagues) - (SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL) AS live_leagues,
	(SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL) AS removed_leagues,
	(SELECT count(*) FROM held_removals) AS held_removals,
	(SELECT count(*) FROM rejected_leagues WHERE resolved_at IS NULL) AS open_rejections;
