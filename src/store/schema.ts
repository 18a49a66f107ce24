import { sql } from 'drizzle-orm';
import { customType, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// `migrations/` has the same columns in STRICT tables, and adds checks, views and triggers that were written by hand.

/** A column of type ANY. Only `leagues` has such columns, and tables/leagues.ts writes them without drizzle. */
const scalar = customType<{ data: string | number }>({ dataType: () => 'any' });
const flag = () => integer({ mode: 'boolean' });
const count = () => integer().notNull().default(0);

export const leagues = sqliteTable(
  'leagues',
  {
    league_id: text().primaryKey(),
    league_name: text().notNull(),
    sport: text().notNull(),
    league_image: text().notNull(),
    priority: scalar().notNull(),
    status: text().notNull(),
    sport_db_id: text(),
    active_season_type: text(),
    active_year: text(),
    external_id: text(),
    external_odds_id: text(),
    default_markets: text(),
    default_tournaments: flag(),
    rankings: flag(),
    active_poll: text(),
    state: text(),
    city: text(),
    create_datetime: scalar(),
    last_update_datetime: scalar(),
    extra: text().notNull().default('{}'),
    first_seen_at: text().notNull(),
    changed_at: text().notNull(),
    removed_at: text(),
    content_hash: text().notNull(),
  },
  (table) => [index('leagues_removed').on(table.removed_at).where(sql`removed_at IS NOT NULL`)],
);

export const leagueChanges = sqliteTable(
  'league_changes',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    run_id: integer().notNull(),
    at: text().notNull(),
    league_id: text().notNull(),
    kind: text({ enum: ['added', 'changed', 'removed', 'restored'] }).notNull(),
    before: text(),
    after: text(),
  },
  (table) => [
    index('league_changes_by_league').on(table.league_id, table.at, table.kind),
    index('league_changes_by_time').on(table.at),
  ],
);

export const runs = sqliteTable(
  'runs',
  {
    id: integer().primaryKey(),
    kind: text({ enum: ['leagues', 'profile'] }).notNull(),
    trigger: text({ enum: ['start', 'schedule', 'catch-up', 'manual'] }).notNull(),
    scope: text({ enum: ['all', 'active', 'inactive'] }),
    started_at: text().notNull(),
    finished_at: text(),
    outcome: text({ enum: ['running', 'changed', 'unchanged', 'held', 'failed', 'interrupted'] }).notNull(),
    attempts: count(),
    http_status: integer(),
    body_bytes: integer(),
    received: count(),
    added: count(),
    changed: count(),
    unchanged: count(),
    restored: count(),
    rejected: count(),
    duplicates: count(),
    removed: count(),
    held: count(),
    error_kind: text({ enum: ['network', 'timeout', 'status', 'contract', 'credentials', 'database', 'internal'] }),
    error_message: text(),
    service_message: text(),
    service_timestamp: text(),
    etag: text(),
    last_modified: text(),
    not_before: text(),
    fingerprint: text(),
    program_version: text(),
    stale_at: text(),
    quiet_fields: text(),
    failures: count(),
    good_run_id: integer(),
  },
  (table) => [
    index('runs_with_changes')
      .on(table.finished_at, table.added, table.changed, table.restored, table.removed)
      .where(sql`kind = 'leagues' AND added + changed + restored + removed > 0`),
    index('runs_of_profile').on(table.id).where(sql`kind = 'profile'`),
  ],
);

export const logins = sqliteTable('logins', {
  id: integer().primaryKey(),
  at: text().notNull(),
  outcome: text({ enum: ['ok', 'refused', 'failed'] }).notNull(),
  reason: text({ enum: ['start', 'due', 'rejected-token', 'manual'] }).notNull(),
  expires_at: text(),
  clock_skew_ms: integer(),
  error_message: text(),
  not_before: text(),
  fingerprint: text(),
  run_id: integer(),
});

export const players = sqliteTable('players', {
  player_id: text().primaryKey(),
  username: text(),
  email: text(),
  type: text(),
  verified: flag(),
  profile_pic: text(),
  first_name: text(),
  last_name: text(),
  premium_items: text(),
  extra: text().notNull().default('{}'),
  first_seen_at: text().notNull(),
  changed_at: text().notNull(),
});

export const rejectedLeagues = sqliteTable(
  'rejected_leagues',
  {
    id: integer().primaryKey(),
    first_run_id: integer().notNull(),
    league_id: text(),
    position: integer().notNull(),
    problems: text().notNull(),
    raw: text().notNull(),
    first_seen_at: text().notNull(),
    resolved_at: text(),
    raw_hash: text().notNull().unique('rejected_leagues_by_raw'),
    scope: text({ enum: ['all', 'active', 'inactive'] }).notNull(),
  },
  (table) => [index('rejected_leagues_open').on(table.id).where(sql`resolved_at IS NULL`)],
);

export const heldRemovals = sqliteTable('held_removals', {
  league_id: text().primaryKey(),
  first_run_id: integer().notNull(),
  held_since: text().notNull(),
  accepted_at: text(),
  guard_since: text(),
  reason: text({ enum: ['empty-list', 'unreadable-elements', 'limit'] }),
});

export const drift = sqliteTable(
  'drift',
  {
    field: text().notNull(),
    kind: text({ enum: ['unknown-field', 'wrong-type', 'missing-field', 'unexpected-value'] }).notNull(),
    detail: text().notNull(),
    first_run_id: integer().notNull(),
    first_seen_at: text().notNull(),
    example_league_id: text(),
  },
  (table) => [primaryKey({ columns: [table.field, table.kind, table.detail] })],
);

export const dataDictionary = sqliteTable(
  'data_dictionary',
  {
    object: text().notNull(),
    object_type: text({ enum: ['table', 'view'] }).notNull(),
    position: integer().notNull(),
    column_name: text(),
    type: text({ enum: ['text', 'integer', 'number', 'boolean', 'instant', 'json', 'any'] }),
    nullable: flag(),
    description: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.object, table.position] })],
);

export const migrations = sqliteTable('schema_migrations', {
  version: integer().primaryKey(),
  name: text().notNull(),
  sha256: text().notNull(),
  applied_at: text().notNull(),
});

/** One row. `base_url` is that of the first good poll: a database belongs to one service. */
export const databaseIdentity = sqliteTable('database_identity', { id: text().primaryKey(), base_url: text() });

/** What `league-sync poll` asks for. The worker deletes a row when it takes it. */
export const pollRequests = sqliteTable('poll_requests', {
  id: integer().primaryKey({ autoIncrement: true }),
  asked_at: text().notNull(),
});

/** What follows the database: how far each is, and how it fails. */
export const outputs = sqliteTable('outputs', {
  name: text({ enum: ['webhook', 'mirror', 'copy'] }).primaryKey(),
  label: text().notNull(),
  seq: integer(),
  done_at: text(),
  failed_attempts: count(),
  failing_since: text(),
  last_error: text(),
  next_attempt_at: text(),
  refused: flag().notNull().default(false),
  fed_by: text({ enum: ['worker', 'command'] })
    .notNull()
    .default('worker'),
});

/** At most one row: what the worker has told the receiver of its webhook, and what it sends next. */
export const webhook = sqliteTable('webhook', {
  id: integer().primaryKey(),
  url_hash: text(),
  accepted_seq: integer().notNull(),
  moved_at: text().notNull(),
  message_id: text(),
  message_type: text(),
  message_made_at: text(),
  message_from_seq: integer(),
  message_to_seq: integer(),
  message_held_since: text(),
  message_body: text(),
  not_before: text(),
  stopped_at: text(),
  announced_stale: flag(),
  announced_held_since: text(),
  announced_refused: flag(),
});
