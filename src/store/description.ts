import type { League } from '../interface.ts';
import type * as schema from './schema.ts';

/**
 * What every table, view and column means, for people who are handed the database alone. `data_dictionary` and
 * `docs/schema.md` are made from it; a test holds it against the columns that SQLite knows.
 */

export type ColumnType = 'text' | 'integer' | 'number' | 'boolean' | 'instant' | 'json' | 'any';
/** What a column holds, with a question mark if it may be NULL, and what that means. */
export type ColumnDescription = `${ColumnType}${'?' | ''}: ${string}`;
export function splitDescription(described: ColumnDescription): readonly [type: string, meaning: string] {
  const end = described.indexOf(': ');
  return [described.slice(0, end), described.slice(end + 2)];
}

/** In the order of the columns. */
export type ObjectDescription<Column extends string = string> = {
  readonly description: string;
  readonly columns: Readonly<Record<Column, ColumnDescription>>;
};

type TableDescription<Table extends { readonly $inferSelect: object }> = ObjectDescription<
  keyof Table['$inferSelect'] & string
>;

const LEAGUE_COLUMNS: Readonly<Record<keyof League, ColumnDescription>> = {
  league_id: 'text: Unique identifier of the league. Every digit is kept, also of one that was sent as a number.',
  league_name: 'text: Display name.',
  sport: 'text: Sport type, such as basketball.',
  league_image: 'text: URL of the logo.',
  priority: 'number: Display priority: the integer or the real number that was sent.',
  status: 'text: Current status. The filter of the service knows active and inactive.',
  sport_db_id: 'text?: Identifier in an external sports database.',
  active_season_type: 'text?: Currently active season type, such as regular or playoffs.',
  active_year: 'text?: Currently active year.',
  external_id: 'text?: Identifier at an external data provider.',
  external_odds_id: 'text?: Identifier at an external odds provider.',
  default_markets: 'json?: Default markets of the league, as received. The service does not say what shape they have.',
  default_tournaments: 'boolean?: Whether default tournaments are enabled.',
  rankings: 'boolean?: Whether rankings are tracked.',
  active_poll: 'text?: Identifier of the active poll.',
  state: 'text?: State or region.',
  city: 'text?: City.',
  create_datetime:
    'any?: When the service created the league, as sent: text or number, anything else as its JSON. The format is the service’s own.',
  last_update_datetime: 'any?: When the service last updated the league; in the form of create_datetime.',
  extra:
    'json: Object of what fits no column: fields that the interface does not name, and optional values of another type. {} where there is nothing.',
};

const FIRST_SEEN_AT: ColumnDescription = 'instant: When the first poll that stored it was applied.';
const CHANGED_AT: ColumnDescription = 'instant: When its row was last written: added, changed, removed or restored.';

const leagues: TableDescription<typeof schema.leagues> = {
  description:
    'One row for every league ever seen, as it was when it was last listed. Removed leagues stay, with removed_at. No row is ever deleted.',
  columns: {
    ...LEAGUE_COLUMNS,
    first_seen_at: FIRST_SEEN_AT,
    changed_at: CHANGED_AT,
    removed_at: 'instant?: When it left the list. NULL while it is listed.',
    content_hash: 'text: Internal: tells whether a received league differs. Its form may change.',
  },
};

const leagueChanges: TableDescription<typeof schema.leagueChanges> = {
  description:
    'Every change of every league, in order. Append-only: updates and deletes are refused. Applying it from the start gives leagues. Follow it with WHERE seq > the last one that you have seen.',
  columns: {
    seq: 'integer: Number of the change; it only grows and is never used twice.',
    run_id: 'integer: The run that wrote it (runs.id).',
    at: 'instant: When the poll that found it was applied; the same for all changes of a run.',
    league_id: 'text: The league (leagues.league_id).',
    kind: 'text: added, changed, removed, or restored (it had left the list and is back).',
    before:
      'json?: Object of the old values of the fields that changed; {} where a league came back as it was; the whole league for removed; NULL for added.',
    after:
      'json?: Object of the whole league after the change: its 19 fields and extra. Booleans are true or false, JSON is embedded. NULL for removed.',
  },
};

const runs: TableDescription<typeof schema.runs> = {
  description:
    'One row for every poll, good or bad, written when it starts. Old rows are deleted after LEAGUE_SYNC_RUN_RETENTION, unless another row names them.',
  columns: {
    id: 'integer: Number of the run; never used twice.',
    kind: 'text: leagues or profile.',
    trigger:
      'text: Why it ran: start (of the worker), schedule, catch-up (a missed or postponed poll was made up), manual.',
    scope: 'text?: What was asked for: all, active or inactive leagues. NULL for profiles.',
    started_at: 'instant: When it started.',
    finished_at: 'instant?: When it ended. NULL while it runs, and where the worker was killed.',
    outcome:
      'text: running; changed, unchanged or held (good; held: too many removals were kept back); failed (nothing was applied); interrupted (the worker ended).',
    attempts: 'integer: Requests sent for the leagues or the profile, retries included; logins are not counted.',
    http_status: 'integer?: Status code of the last answer.',
    body_bytes: 'integer?: Size of the last answer in bytes, after decompression.',
    received:
      'integer: Elements in the list (0 where the service said with status 304 that it is the same): added + changed + unchanged + restored + rejected + duplicates.',
    added: 'integer: Leagues never seen before.',
    changed: 'integer: Listed leagues that differed from their row.',
    unchanged: 'integer: Listed leagues that were as their row says.',
    restored: 'integer: Leagues that had left the list and are back.',
    rejected: 'integer: Different elements that could not be stored (rejected_leagues).',
    duplicates: 'integer: Elements that repeated another one, stored or rejected.',
    removed: 'integer: Leagues that left the list.',
    held: 'integer: Leagues missing from the list whose removal is held (held_removals).',
    error_kind:
      'text?: Why it failed: network, timeout, status (of the answer), contract (the answer is not what the interface says), credentials, database, internal.',
    error_message: 'text?: What went wrong, in words.',
    service_message: 'text?: The message of the service in its answer.',
    service_timestamp: 'text?: The timestamp of the service in its answer.',
    etag: 'text?: The ETag of the list: of the answer, or of the one that it stands for (http_status 304).',
    last_modified: 'text?: The Last-Modified of the list, in the same way.',
    not_before: 'instant?: The service asked not to be called before this instant (Retry-After).',
    fingerprint: 'text?: Internal: which service and account the run was of.',
    program_version: 'text?: Version of league-sync that ran it.',
  },
};

const logins: TableDescription<typeof schema.logins> = {
  description: 'One row for every login, retries included. Never a token. Deleted after LEAGUE_SYNC_RUN_RETENTION.',
  columns: {
    id: 'integer: Number of the login; never used twice.',
    at: 'instant: When it was made.',
    outcome: 'text: ok, refused (the service says no to the credentials), or failed (it could not be asked).',
    reason: 'text: Why: start (of the worker), due (the token was to expire), rejected-token, manual (a command).',
    expires_at: 'instant?: When the token expires, as the service said.',
    clock_skew_ms:
      'integer?: By how many milliseconds the clock of the service is ahead of the local one; 0 where that is less than a second.',
    error_message: 'text?: Why it was refused or failed.',
    not_before: 'instant?: The service asked not to be called before this instant (Retry-After).',
    fingerprint: 'text?: Internal: which service and account it was for.',
  },
};

const players: TableDescription<typeof schema.players> = {
  description: 'The logged-in player, as the profile last said. One row for each player that ever logged in.',
  columns: {
    player_id: 'text: Identifier of the player.',
    username: 'text?: Login name.',
    email: 'text?: E-mail address.',
    type: 'text?: Player type.',
    verified: 'boolean?: Whether the player is verified.',
    profile_pic: 'text?: URL of the profile picture.',
    first_name: 'text?: First name.',
    last_name: 'text?: Last name.',
    premium_items: 'json?: The premium items, as received. The service does not say what shape they have.',
    extra: 'json: Object of what fits no column, as in leagues.',
    first_seen_at: FIRST_SEEN_AT,
    changed_at: 'instant: When its row was last written.',
  },
};

const rejectedLeagues: TableDescription<typeof schema.rejectedLeagues> = {
  description:
    'Elements of the list that could not be stored. The same element is one row, however often it is sent. A stored league of that id stays as it was.',
  columns: {
    id: 'integer: Number of the rejection.',
    first_run_id: 'integer: The run that met it first (runs.id).',
    league_id: 'text?: Its league_id. NULL where that could not be read.',
    position: 'integer: Where in the list it stood when it was first met, from 0.',
    problems: 'json: List of {path, message}: what is wrong with it, and where.',
    raw: 'json: The element as it was sent.',
    first_seen_at: 'instant: When it was first met.',
    resolved_at: 'instant?: When a poll no longer contained it. NULL while the service still sends it so.',
    raw_hash: 'text: Internal: tells whether an element is the same.',
    scope: 'text: Internal: scope of the poll that met it last; a narrower one cannot resolve it.',
  },
};

const heldRemovals: TableDescription<typeof schema.heldRemovals> = {
  description:
    'Leagues that are missing from the list, and whose removal is held: too many would go at once, or elements without a readable league_id may be any of them. league-sync accept-removals lets them go. A row goes when its league is listed again or removed.',
  columns: {
    league_id: 'text: The league (leagues.league_id); its row is still listed.',
    first_run_id: 'integer: The run that held it first (runs.id).',
    held_since: 'instant: When it was first held.',
    accepted_at: 'instant?: When the removal was accepted; the next poll applies it. NULL while it is held.',
    guard_since:
      'instant?: Internal: since when the guard had been holding without a break, for other leagues too. NULL where held_since says it.',
  },
};

const drift: TableDescription<typeof schema.drift> = {
  description: 'Where the service departs from its interface. One row for each field, kind and detail; never a value.',
  columns: {
    field: 'text: leagues[].name for a field of a league; leagues.name, login.name, player.name for one of an answer.',
    kind: 'text: unknown-field, wrong-type, missing-field or unexpected-value.',
    detail: 'text: Types, such as "number for string".',
    first_run_id: 'integer: The run that met it first (runs.id).',
    first_seen_at: 'instant: When it was first met.',
  },
};

const migrations: TableDescription<typeof schema.migrations> = {
  description: 'The steps of the schema that were applied to this database.',
  columns: {
    version:
      'integer: Number of the step; the last one is also PRAGMA user_version. 0 is no step: a demo made this database, and no worker has written to it since.',
    name: 'text: Its name.',
    sha256: 'text: SHA-256 of its text, in hexadecimal digits.',
    applied_at: 'instant: When it was applied.',
  },
};

const dataDictionary: TableDescription<typeof schema.dataDictionary> = {
  description: 'This description: one row for each table and view (position 0) and each of their columns.',
  columns: {
    object: 'text: Name of the table or view.',
    object_type: 'text: table or view.',
    position: 'integer: Place of the column, from 1; 0 for the table or view itself.',
    column_name: 'text?: Name of the column. NULL for the table or view itself.',
    type: 'text?: text, integer, number, boolean (0 or 1), instant (ISO 8601 UTC text with milliseconds), json (valid JSON text), any (text or number).',
    nullable: 'boolean?: Whether it may be NULL.',
    description: 'text: What it means.',
  },
};

const { removed_at: _removed, content_hash: _hash, ...ACTIVE_LEAGUE_COLUMNS } = leagues.columns;

/** The tables, in the order in which a reader wants to meet them. */
export const TABLES: Readonly<Record<string, ObjectDescription>> = {
  leagues,
  league_changes: leagueChanges,
  runs,
  logins,
  players,
  rejected_leagues: rejectedLeagues,
  held_removals: heldRemovals,
  drift,
  data_dictionary: dataDictionary,
  schema_migrations: migrations,
};

export const VIEWS: Readonly<Record<string, ObjectDescription>> = {
  active_leagues: {
    description: 'The leagues that are listed and active, by priority.',
    columns: ACTIVE_LEAGUE_COLUMNS,
  },
  league_versions: {
    description:
      'Every version of every league. The state at an instant: WHERE valid_from <= the instant AND (valid_to IS NULL OR valid_to > the instant).',
    columns: {
      ...LEAGUE_COLUMNS,
      valid_from: 'instant: When this version was found.',
      valid_to: 'instant?: When the next one was found, or the league left the list. NULL while current.',
      seq: 'integer: The change that made it (league_changes.seq).',
      run_id: 'integer: The run that found it (runs.id).',
    },
  },
  league_field_changes: {
    description: 'One row for each field that changed, of changes of the kinds changed and restored.',
    columns: {
      seq: 'integer: The change (league_changes.seq).',
      run_id: 'integer: The run that found it (runs.id).',
      at: 'instant: When it was found.',
      league_id: 'text: The league (leagues.league_id).',
      league_name: 'text: Its name after the change.',
      field: 'text: Name of the field; extra counts as one.',
      old_value: 'any?: Its value before, as its column holds it.',
      new_value: 'any?: Its value after.',
    },
  },
  freshness: {
    description: 'One row: how fresh the leagues are, and whether anything needs attention.',
    columns: {
      last_success_at: 'instant?: When the last good poll of the leagues ended. NULL before the first.',
      age_seconds: 'integer?: Seconds since then, by the clock of the reader.',
      last_outcome: 'text?: Outcome of the last poll of the leagues that has ended.',
      consecutive_failures: 'integer: Failed polls of the leagues since the last good one.',
      live_leagues: 'integer: Leagues that are listed.',
      removed_leagues: 'integer: Leagues that have left the list.',
      held_removals: 'integer: Removals that are held.',
      open_rejections: 'integer: Elements that the service still sends and that cannot be stored.',
    },
  },
};
