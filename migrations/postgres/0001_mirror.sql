-- The tables and views of the mirror. Never edited after release: a later version adds a file.
-- Our relations are in double quotes and, but for COLLATE, nothing else is: a rebuild adds a suffix to quoted names.
CREATE TABLE "leagues" (
	league_id text PRIMARY KEY CHECK (league_id <> ''),
	league_name text NOT NULL,
	sport text NOT NULL,
	league_image text NOT NULL,
	priority numeric NOT NULL,
	status text NOT NULL,
	sport_db_id text,
	active_season_type text,
	active_year text,
	external_id text,
	external_odds_id text,
	default_markets jsonb,
	default_tournaments boolean,
	rankings boolean,
	active_poll text,
	state text,
	city text,
	create_datetime text,
	last_update_datetime text,
	extra jsonb NOT NULL CHECK (jsonb_typeof(extra) = 'object'),
	first_seen_at timestamptz NOT NULL,
	changed_at timestamptz NOT NULL,
	removed_at timestamptz
);
CREATE INDEX ON "leagues" (removed_at) WHERE removed_at IS NOT NULL;

CREATE TABLE "league_changes" (
	seq bigint PRIMARY KEY,
	run_id bigint NOT NULL,
	at timestamptz NOT NULL,
	league_id text NOT NULL,
	kind text NOT NULL CHECK (kind IN ('added', 'changed', 'removed', 'restored')),
	before jsonb,
	after jsonb,
	CHECK ((before IS NULL) = (kind = 'added')),
	CHECK ((after IS NULL) = (kind = 'removed'))
);
CREATE INDEX ON "league_changes" (league_id, at);
CREATE INDEX ON "league_changes" (at);

CREATE TABLE "runs" (
	id bigint PRIMARY KEY,
	kind text NOT NULL CHECK (kind IN ('leagues', 'profile')),
	trigger text NOT NULL CHECK (trigger IN ('start', 'schedule', 'catch-up', 'manual')),
	scope text CHECK (scope IN ('all', 'active', 'inactive')),
	started_at timestamptz NOT NULL,
	finished_at timestamptz,
	outcome text NOT NULL CHECK (outcome IN ('running', 'changed', 'unchanged', 'held', 'failed', 'interrupted')),
	attempts bigint NOT NULL CHECK (attempts >= 0),
	http_status bigint,
	body_bytes bigint CHECK (body_bytes >= 0),
	received bigint NOT NULL CHECK (received >= 0),
	added bigint NOT NULL CHECK (added >= 0),
	changed bigint NOT NULL CHECK (changed >= 0),
	unchanged bigint NOT NULL CHECK (unchanged >= 0),
	restored bigint NOT NULL CHECK (restored >= 0),
	rejected bigint NOT NULL CHECK (rejected >= 0),
	duplicates bigint NOT NULL CHECK (duplicates >= 0),
	removed bigint NOT NULL CHECK (removed >= 0),
	held bigint NOT NULL CHECK (held >= 0),
	error_kind text
		CHECK (error_kind IN ('network', 'timeout', 'status', 'contract', 'credentials', 'database', 'internal')),
	error_message text,
	service_message text,
	service_timestamp text,
	etag text,
	last_modified text,
	not_before timestamptz,
	program_version text,
	stale_at timestamptz,
	duration_ms bigint,
	unusual_change jsonb,
	CHECK ((scope IS NULL) = (kind = 'profile')),
	CHECK (outcome NOT IN ('changed', 'unchanged', 'held')
		OR added + changed + unchanged + restored + rejected + duplicates = received)
);
-- Finds the runs that are not finished, whose rows will change, without reading all the others.
CREATE INDEX ON "runs" (id) WHERE outcome = 'running';

CREATE TABLE "players" (
	player_id text PRIMARY KEY CHECK (player_id <> ''),
	username text,
	email text,
	type text,
	verified boolean,
	profile_pic text,
	first_name text,
	last_name text,
	premium_items jsonb,
	extra jsonb NOT NULL CHECK (jsonb_typeof(extra) = 'object'),
	first_seen_at timestamptz NOT NULL,
	changed_at timestamptz NOT NULL
);

CREATE TABLE "rejected_leagues" (
	id bigint PRIMARY KEY,
	first_run_id bigint NOT NULL,
	league_id text,
	position bigint NOT NULL CHECK (position >= 0),
	problems jsonb NOT NULL CHECK (jsonb_typeof(problems) = 'array'),
	raw jsonb NOT NULL,
	first_seen_at timestamptz NOT NULL,
	resolved_at timestamptz
);

CREATE TABLE "held_removals" (
	league_id text PRIMARY KEY,
	first_run_id bigint NOT NULL,
	held_since timestamptz NOT NULL,
	accepted_at timestamptz,
	reason text CHECK (reason IN ('empty-list', 'unreadable-elements', 'limit'))
);

CREATE TABLE "drift" (
	field text NOT NULL,
	kind text NOT NULL CHECK (kind IN ('unknown-field', 'wrong-type', 'missing-field', 'unexpected-value')),
	detail text NOT NULL,
	first_run_id bigint NOT NULL,
	first_seen_at timestamptz NOT NULL,
	example_league_id text,
	PRIMARY KEY (field, kind, detail)
);

CREATE TABLE "data_dictionary" (
	object text NOT NULL,
	object_type text NOT NULL CHECK (object_type IN ('table', 'view')),
	position bigint NOT NULL CHECK (position >= 0),
	column_name text,
	type text CHECK (type IN ('text', 'integer', 'number', 'boolean', 'instant', 'json', 'any')),
	nullable boolean,
	description text NOT NULL,
	PRIMARY KEY (object, position)
);

CREATE TABLE "mirror_state" (
	database text NOT NULL,
	seq bigint NOT NULL CHECK (seq >= 0),
	at timestamptz CHECK ((at IS NULL) = (seq = 0)),
	mirrored_at timestamptz,
	program_version text NOT NULL
);
-- At most one row.
CREATE UNIQUE INDEX ON "mirror_state" ((true));

CREATE VIEW "active_leagues" AS
SELECT league_id, league_name, sport, league_image, priority, status, sport_db_id, active_season_type, active_year,
	external_id, external_odds_id, default_markets, default_tournaments, rankings, active_poll, state, city,
	create_datetime, last_update_datetime, extra, first_seen_at, changed_at,
	EXISTS (SELECT FROM "held_removals" AS hold WHERE hold.league_id = league.league_id) AS held
FROM "leagues" AS league
WHERE removed_at IS NULL AND status = 'active'
-- SQLite's order of texts.
ORDER BY priority, league_name COLLATE "C", league_id COLLATE "C";

CREATE VIEW "league_versions" AS
SELECT league_id,
	after ->> 'league_name' AS league_name,
	after ->> 'sport' AS sport,
	after ->> 'league_image' AS league_image,
	(after ->> 'priority')::numeric AS priority,
	after ->> 'status' AS status,
	after ->> 'sport_db_id' AS sport_db_id,
	after ->> 'active_season_type' AS active_season_type,
	after ->> 'active_year' AS active_year,
	after ->> 'external_id' AS external_id,
	after ->> 'external_odds_id' AS external_odds_id,
	nullif(after -> 'default_markets', 'null') AS default_markets,
	(after ->> 'default_tournaments')::boolean AS default_tournaments,
	(after ->> 'rankings')::boolean AS rankings,
	after ->> 'active_poll' AS active_poll,
	after ->> 'state' AS state,
	after ->> 'city' AS city,
	after ->> 'create_datetime' AS create_datetime,
	after ->> 'last_update_datetime' AS last_update_datetime,
	after -> 'extra' AS extra,
	at AS valid_from,
	(SELECT next.at FROM "league_changes" AS next
		WHERE next.league_id = version.league_id AND next.at > version.at
		ORDER BY next.at LIMIT 1) AS valid_to,
	seq,
	run_id
FROM "league_changes" AS version
WHERE kind <> 'removed';

CREATE VIEW "league_field_changes" AS
SELECT change.seq, change.run_id, change.at, change.league_id,
	change.after ->> 'league_name' AS league_name,
	field.key AS field,
	CASE WHEN field.key IN ('default_markets', 'extra')
		THEN nullif(field.value, 'null')::text ELSE change.before ->> field.key END AS old_value,
	CASE WHEN field.key IN ('default_markets', 'extra')
		THEN nullif(change.after -> field.key, 'null')::text ELSE change.after ->> field.key END AS new_value,
	change.kind
FROM "league_changes" AS change CROSS JOIN LATERAL jsonb_each(change.before) AS field
WHERE change.kind IN ('changed', 'restored');

CREATE VIEW "freshness" AS
WITH success AS (
	-- An end that lies in the future is kept up by the order of instants, after the clock was set back.
	SELECT id, finished_at, CASE WHEN finished_at > now() THEN started_at ELSE finished_at END AS at, stale_at
	FROM "runs"
	WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')
	ORDER BY id DESC LIMIT 1
)
SELECT
	(SELECT finished_at FROM success) AS last_success_at,
	(SELECT greatest(0, floor(extract(epoch FROM now())) - floor(extract(epoch FROM at)))::bigint FROM success)
		AS age_seconds,
	(SELECT outcome FROM "runs" WHERE kind = 'leagues' AND outcome <> 'running' ORDER BY id DESC LIMIT 1)
		AS last_outcome,
	(SELECT count(*) FROM "runs" WHERE kind = 'leagues' AND outcome = 'failed'
		AND id > coalesce((SELECT id FROM success), 0)) AS consecutive_failures,
	(SELECT count(*) FROM "leagues" WHERE removed_at IS NULL) AS live_leagues,
	(SELECT count(*) FROM "leagues" WHERE removed_at IS NULL) - (SELECT count(*) FROM "held_removals") AS listed_leagues,
	(SELECT count(*) FROM "leagues" WHERE removed_at IS NOT NULL) AS removed_leagues,
	(SELECT count(*) FROM "held_removals") AS held_removals,
	(SELECT count(*) FROM "rejected_leagues" WHERE resolved_at IS NULL) AS open_rejections,
	(SELECT stale_at FROM success) AS stale_at;
