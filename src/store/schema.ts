import { sql } from 'drizzle-orm';
import { check, customType, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * The tables as drizzle sees them. `migrations/` holds what SQLite sees: the same columns, STRICT, with the checks
 * that drizzle cannot express, the views, and the triggers. A test compares the two.
 */

/** A STRICT column of type ANY. Only `leagues` has any, and drizzle writes none of its rows. */
const scalar = customType<{ data: string | number }>({ dataType: () => 'any' });
const flag = (name: string) => integer(name, { mode: 'boolean' });
const count = (name: string) => integer(name).notNull().default(0);

export const leagues = sqliteTable(
  'leagues',
  {
    league_id: text('league_id').primaryKey(),
    league_name: text('league_name').notNull(),
    sport: text('sport').notNull(),
    league_image: text('league_image').notNull(),
    priority: scalar('priority').notNull(),
    status: text('status').notNull(),
    sport_db_id: text('sport_db_id'),
    active_season_type: text('active_season_type'),
    active_year: text('active_year'),
    external_id: text('external_id'),
    external_odds_id: text('external_odds_id'),
    default_markets: text('default_markets'),
    default_tournaments: flag('default_tournaments'),
    rankings: flag('rankings'),
    active_poll: text('active_poll'),
    state: text('state'),
    city: text('city'),
    create_datetime: scalar('create_datetime'),
    last_update_datetime: scalar('last_update_datetime'),
    extra: text('extra').notNull().default('{}'),
    first_seen_at: text('first_seen_at').notNull(),
    changed_at: text('changed_at').notNull(),
    removed_at: text('removed_at'),
    content_hash: text('content_hash').notNull(),
  },
  (table) => [index('leagues_removed').on(table.removed_at).where(sql`removed_at IS NOT NULL`)],
);

export const leagueChanges = sqliteTable(
  'league_changes',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    run_id: integer('run_id').notNull(),
    at: text('at').notNull(),
    league_id: text('league_id').notNull(),
    kind: text('kind', { enum: ['added', 'changed', 'removed', 'restored'] }).notNull(),
    before: text('before'),
    after: text('after'),
  },
  (table) => [
    index('league_changes_by_league').on(table.league_id, table.at, table.kind),
    index('league_changes_by_time').on(table.at),
  ],
);

export const runs = sqliteTable(
  'runs',
  {
    id: integer('id').primaryKey(),
    kind: text('kind', { enum: ['leagues', 'profile'] }).notNull(),
    trigger: text('trigger', { enum: ['start', 'schedule', 'catch-up', 'manual'] }).notNull(),
    scope: text('scope', { enum: ['all', 'active', 'inactive'] }),
    started_at: text('started_at').notNull(),
    finished_at: text('finished_at'),
    outcome: text('outcome', {
      enum: ['running', 'changed', 'unchanged', 'held', 'failed', 'interrupted'],
    }).notNull(),
    attempts: count('attempts'),
    http_status: integer('http_status'),
    body_bytes: integer('body_bytes'),
    received: count('received'),
    added: count('added'),
    changed: count('changed'),
    unchanged: count('unchanged'),
    restored: count('restored'),
    rejected: count('rejected'),
    duplicates: count('duplicates'),
    removed: count('removed'),
    held: count('held'),
    error_kind: text('error_kind', {
      enum: ['network', 'timeout', 'status', 'contract', 'credentials', 'database', 'internal'],
    }),
    error_message: text('error_message'),
    service_message: text('service_message'),
    service_timestamp: text('service_timestamp'),
    etag: text('etag'),
    last_modified: text('last_modified'),
    not_before: text('not_before'),
    fingerprint: text('fingerprint'),
    program_version: text('program_version'),
  },
  (table) => [
    index('runs_with_changes')
      .on(table.finished_at, table.added, table.changed, table.restored, table.removed)
      .where(sql`kind = 'leagues' AND added + changed + restored + removed > 0`),
  ],
);

export const logins = sqliteTable('logins', {
  id: integer('id').primaryKey(),
  at: text('at').notNull(),
  outcome: text('outcome', { enum: ['ok', 'refused', 'failed'] }).notNull(),
  reason: text('reason', { enum: ['start', 'due', 'rejected-token', 'manual'] }).notNull(),
  expires_at: text('expires_at'),
  clock_skew_ms: integer('clock_skew_ms'),
  error_message: text('error_message'),
  not_before: text('not_before'),
  fingerprint: text('fingerprint'),
});

export const players = sqliteTable('players', {
  player_id: text('player_id').primaryKey(),
  username: text('username'),
  email: text('email'),
  type: text('type'),
  verified: flag('verified'),
  profile_pic: text('profile_pic'),
  first_name: text('first_name'),
  last_name: text('last_name'),
  premium_items: text('premium_items'),
  extra: text('extra').notNull().default('{}'),
  first_seen_at: text('first_seen_at').notNull(),
  changed_at: text('changed_at').notNull(),
});

export const rejectedLeagues = sqliteTable(
  'rejected_leagues',
  {
    id: integer('id').primaryKey(),
    first_run_id: integer('first_run_id').notNull(),
    league_id: text('league_id'),
    position: integer('position').notNull(),
    problems: text('problems').notNull(),
    raw: text('raw').notNull(),
    first_seen_at: text('first_seen_at').notNull(),
    resolved_at: text('resolved_at'),
    raw_hash: text('raw_hash').notNull().unique('rejected_leagues_by_raw'),
    /** Of the poll that saw it last; a narrower one cannot speak for it. */
    scope: text('scope', { enum: ['all', 'active', 'inactive'] }).notNull(),
  },
  (table) => [index('rejected_leagues_open').on(table.id).where(sql`resolved_at IS NULL`)],
);

export const heldRemovals = sqliteTable('held_removals', {
  league_id: text('league_id').primaryKey(),
  first_run_id: integer('first_run_id').notNull(),
  held_since: text('held_since').notNull(),
  accepted_at: text('accepted_at'),
  guard_since: text('guard_since'),
});

export const drift = sqliteTable(
  'drift',
  {
    field: text('field').notNull(),
    kind: text('kind', { enum: ['unknown-field', 'wrong-type', 'missing-field', 'unexpected-value'] }).notNull(),
    detail: text('detail').notNull(),
    first_run_id: integer('first_run_id').notNull(),
    first_seen_at: text('first_seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.field, table.kind, table.detail] })],
);

export const dataDictionary = sqliteTable(
  'data_dictionary',
  {
    object: text('object').notNull(),
    object_type: text('object_type', { enum: ['table', 'view'] }).notNull(),
    position: integer('position').notNull(),
    column_name: text('column_name'),
    type: text('type', { enum: ['text', 'integer', 'number', 'boolean', 'instant', 'json', 'any'] }),
    nullable: flag('nullable'),
    description: text('description').notNull(),
  },
  (table) => [primaryKey({ columns: [table.object, table.position] })],
);

export const migrations = sqliteTable(
  'schema_migrations',
  {
    version: integer('version').primaryKey(),
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    applied_at: text('applied_at').notNull(),
  },
  (table) => [check('schema_migrations_sha256', sql`length(${table.sha256}) = 64`)],
);
