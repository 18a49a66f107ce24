/** The source of `data_dictionary` and `docs/schema.md`. A `?` after the type marks a nullable column. */

const LEAGUE_COLUMNS = `  league_id text: Unique identifier of the league. Keeps every digit, even if it was sent as a number.
  league_name text: Display name.
  sport text: Sport type, such as basketball.
  league_image text: URL of the logo.
  priority number: Display priority: an integer or a real number, as sent.
  status text: Current status: active or inactive. Any other value is stored as well, and is drift.
  sport_db_id text?: Identifier in an external sports database.
  active_season_type text?: Currently active season type, such as regular or playoffs.
  active_year text?: Currently active year.
  external_id text?: Identifier at an external data provider.
  external_odds_id text?: Identifier at an external odds provider.
  default_markets json?: Default markets of the league, as received. The service does not specify their structure.
  default_tournaments boolean?: Whether default tournaments are enabled.
  rankings boolean?: Whether rankings are tracked.
  active_poll text?: Identifier of the active poll.
  state text?: State or region.
  city text?: City.
  create_datetime any?: When the service created the league, as sent: text or a number, anything else as JSON text. The service defines the format.
  last_update_datetime any?: When the service last updated the league; same format as create_datetime.
  extra json: Object of everything that fits no column: fields that the interface does not define, and optional values of another type. {} if there is nothing.`;

const SINCE = `  first_seen_at instant: When it was first stored.
  changed_at instant: When its row was last added, changed, removed or restored.`;

/** The most useful tables come first. */
export const TABLES = `
leagues: One row for every league ever seen, as it was when last listed. Removed leagues keep their row, with removed_at set. Rows are never deleted: deletes are rejected.
${LEAGUE_COLUMNS}
${SINCE}
  removed_at instant?: When it was found missing from the list. NULL while it is listed.
  content_hash text: Internal: hash to detect whether a received league differs. Its format may change.

league_changes: Every change of every league, in order. Append-only: updates and deletes are rejected. Replaying it from the start gives leagues. Follow it with WHERE seq > the last one you have seen.
  seq integer: Number of the change; always increasing, never reused.
  run_id integer: The run that wrote it (runs.id).
  at instant: When it was stored; the same for all changes of a run.
  league_id text: The league (leagues.league_id).
  kind text: added, changed, removed, or restored (listed again after a removal).
  before json?: Object of the old values of the fields that changed; {} if a league was restored unchanged; the whole league for removed; NULL for added.
  after json?: Object of the whole league after the change: its 19 fields and extra. Booleans are true or false, JSON is embedded. NULL for removed.

runs: One row for every poll, successful or not, written when it starts. Rows are deleted after LEAGUE_SYNC_RUN_RETENTION, unless another row refers to them.
  id integer: Number of the run; never reused.
  kind text: leagues or profile.
  trigger text: Why it ran: start (of the worker), schedule, catch-up (for a missed or postponed poll), manual.
  scope text?: Requested leagues: all, active or inactive. NULL for profiles.
  started_at instant: When it started.
  finished_at instant?: When it ended. NULL while it runs, or if the worker was killed.
  outcome text: running; changed, unchanged or held (successful; held: too many removals at once were held back); failed (nothing was applied); interrupted (the worker ended).
  attempts integer: Requests sent for the leagues or the profile, including retries, without logins.
  http_status integer?: Status code of the last response.
  body_bytes integer?: Size of the last response in bytes, after decompression.
  received integer: Elements in the list (0 if the service answered 304 Not Modified): added + changed + unchanged + restored + rejected + duplicates.
  added integer: New leagues.
  changed integer: Listed leagues that differed from their row.
  unchanged integer: Listed leagues that equalled their row.
  restored integer: Removed leagues that are listed again.
  rejected integer: Distinct elements that could not be stored (rejected_leagues).
  duplicates integer: Elements that repeated another, stored or rejected.
  removed integer: Leagues that left the list.
  held integer: Leagues missing from the list whose removal is held (held_removals).
  error_kind text?: Why it failed: network, timeout, status (of the response), contract (the response violates the interface), credentials, database, internal.
  error_message text?: Description of the error.
  service_message text?: Message in the service’s response.
  service_timestamp text?: Timestamp in the service’s response.
  etag text?: ETag of the list; with http_status 304, of the list that has not changed.
  last_modified text?: Last-Modified of the list, likewise.
  not_before instant?: The service asked for no requests before this time (Retry-After).
  fingerprint text?: Internal: identifies the service and account.
  program_version text?: Version of league-sync.
  stale_at instant?: When the leagues become stale unless another poll succeeds, by the settings at the time of this poll. NULL for profiles, and unless the poll succeeded.
  failures integer: Internal: how many polls of the leagues have failed in a row, up to this one; 0 unless it failed.
  good_run_id integer?: Internal: the last good poll of the leagues before this one, if this one failed.

logins: One row for every login, including retries; never a token. Rows are deleted after LEAGUE_SYNC_RUN_RETENTION.
  id integer: Number of the login; never reused.
  at instant: When it was attempted.
  outcome text: ok, refused (the service rejected the credentials), or failed (no usable response).
  reason text: Why it was needed: start (of the worker), due (the token was about to expire), rejected-token, manual (a command).
  expires_at instant?: When the token expires, by the service.
  clock_skew_ms integer?: Milliseconds by which the service’s clock is ahead of the local one; 0 if less than a second.
  error_message text?: Why the login was refused or failed.
  not_before instant?: The service asked for no requests before this time (Retry-After).
  fingerprint text?: Internal: identifies the service and account.
  run_id integer?: The run that asked for the login first (runs.id). NULL if none did, such as when the token was about to expire.

players: One row for each player that ever logged in, by the latest profile.
  player_id text: Identifier of the player.
  username text?: Login name.
  email text?: E-mail address.
  type text?: Player type.
  verified boolean?: Whether the player is verified.
  profile_pic text?: URL of the profile picture.
  first_name text?: First name.
  last_name text?: Last name.
  premium_items json?: The premium items, as received. The service does not specify their structure.
  extra json: Object of everything that fits no column, as in leagues.
  first_seen_at instant: When it was first stored.
  changed_at instant: When its row was last written.

rejected_leagues: Elements of the list that could not be stored. Repeats of an element share one row. A stored league with that id is left unchanged.
  id integer: Number of the rejection.
  first_run_id integer: The run that found it first (runs.id).
  league_id text?: Its league_id. NULL if unreadable.
  position integer: Its position in the list when first found, from 0.
  problems json: List of {path, message}: what is wrong, and where.
  raw json: The element as sent, in canonical form. Of one longer than 100,000 characters only its league_id, a note and a hash.
  first_seen_at instant: When it was first found. The list may have been without it at times since then.
  resolved_at instant?: When the list no longer contained it. NULL while the service still sends it.
  raw_hash text: Internal: hash that identifies the element.
  scope text: Internal: scope of the poll that found it last; a narrower one cannot resolve it.

held_removals: Leagues that are missing from the list, but whose removal is held back: too many would be removed at once, or elements without a readable league_id could be any of them. Accept them with league-sync accept-removals. A row is deleted when its league is listed again or removed.
  league_id text: The league (leagues.league_id); its removed_at is still NULL.
  first_run_id integer: The run that held it first (runs.id).
  held_since instant: When it was first held.
  accepted_at instant?: When the removal was accepted; the next poll applies it. NULL while it is held.
  guard_since instant?: Internal: since when removals had been held without interruption, also of other leagues. NULL if it is held_since.
  reason text?: Why it was held first: empty-list; unreadable-elements (elements without a readable league_id could be any of the missing leagues); limit (too many would be removed at once). NULL if it was held before the database had schema 2.

drift: Where the service departs, or departed, from its interface. One row for each field, kind and detail, 10,000 at most; never a value. What a rejected element lacks is only in rejected_leagues.
  field text: leagues[].name for a field of a league; leagues.name, login.name, player.name for one of a response.
  kind text: unknown-field, wrong-type, missing-field or unexpected-value.
  detail text: What was found, such as “number for string” or “neither active nor inactive”.
  first_run_id integer: The run that found it first (runs.id).
  first_seen_at instant: When it was first found.
  example_league_id text?: A league that showed it (leagues.league_id). NULL for a field of a response or player, if the league_id was unreadable, or if it was found before the database had schema 2.

data_dictionary: This description: one row for each table and view (position 0) and each of their columns.
  object text: Name of the table or view.
  object_type text: table or view.
  position integer: Position of the column, from 1; 0 for the table or view itself.
  column_name text?: Name of the column. NULL for the table or view itself.
  type text?: text, integer, number, boolean (0 or 1), instant (ISO 8601 UTC text with milliseconds), json (valid JSON text), any (text or number).
  nullable boolean?: Whether it may be NULL.
  description text: What it means.

schema_migrations: The schema migrations that were applied to this database.
  version integer: Number of the migration; the last one is also PRAGMA user_version. 0 is no migration, but marks a database that a demo made and no worker has written to since.
  name text: Its name.
  sha256 text: SHA-256 of its text, in hexadecimal.
  applied_at instant: When it was applied.

database_identity: One row: the id of this database, and the service that it belongs to.
  id text: Random id, made with the database (or by its upgrade from version 0.1.0) and kept by its copies.
  base_url text?: Base URL of the first good poll (after an upgrade from version 0.1.0, of the next one), or that of sync --service-moved. A worker with another base URL refuses the database. NULL before that poll.

poll_requests: Internal: polls that league-sync poll has asked for, until the worker takes them, within a second.
  id integer: Never reused.
  asked_at instant: When it was asked for.

outputs: One row for each thing that follows the database and is set: the webhook, the mirror, the published copy.
  name text: webhook (LEAGUE_SYNC_WEBHOOK_URL), mirror (LEAGUE_SYNC_POSTGRES_URL) or copy (LEAGUE_SYNC_PUBLISH).
  label text: Where it leads: the host of the webhook, the server and the schema of the mirror, the path of the copy. Nothing secret.
  seq integer?: The last change that it has (league_changes.seq). NULL before the first, and for the copy.
  done_at instant?: When it last had all there was; of the mirror, up to an hour earlier. NULL if it never had.
  failed_attempts integer: How many attempts have failed since the last that succeeded.
  failing_since instant?: When the first of them failed. NULL if none did.
  last_error text?: How the last one failed.
  next_attempt_at instant?: When it is tried again. A start, SIGHUP and league-sync poll try earlier, but never before a Retry-After ends.
  refused boolean: Internal: whether a person must do something first.
  fed_by text: Internal: worker, or command for a mirror that only league-sync mirror writes.

webhook: At most one row: what the receiver of the webhook was told, and the message in flight. No row until a worker has a webhook.
  id integer: Always 1.
  url_hash text?: Internal: hash to detect that the URL has changed.
  accepted_seq integer: The last change that was accepted, or skipped (league_changes.seq). Later changes are pending.
  moved_at instant: When deliveries began, or webhook replay or skip last moved accepted_seq.
  message_id text?: Id of the message in flight; the same in all its attempts. NULL if there is none.
  message_type text?: Its type: leagues.changed, data.stale, data.fresh, removals.held, credentials.refused or credentials.accepted.
  message_made_at instant?: When it was made.
  message_from_seq integer?: Its first change (league_changes.seq). NULL if it has none.
  message_to_seq integer?: Its last change.
  message_held_since instant?: Internal: of removals.held, when the newest of these removals was held.
  message_body json?: What is sent, byte for byte.
  not_before instant?: When the last Retry-After of the receiver ends.
  stopped_at instant?: When the receiver answered 410 (Gone). Nothing is sent until the URL changes, or webhook replay or skip is called.
  announced_stale boolean?: Whether data.stale was sent last, rather than data.fresh. NULL if the data is stale and this was not told.
  announced_held_since instant?: When the newest held removal that it was told of was held.
  announced_refused boolean?: Whether credentials.refused was sent last. NULL if they are refused and this was not told.
`;

export const VIEWS = `
about: What this file is, where to begin, and the SQL for the most common questions.
  topic text: about, begin with, or ask.
  subject text: What the answer is about: for begin with, a table or view; for ask, a question.
  answer text?: A sentence; for ask, an SQL statement.

attention: One row for each thing that needs attention; none if all is well. status, check, the status page and /status.json show these rows.
  since instant?: Since when. NULL for stale if no poll was ever started.
  what text: stale (see freshness.stale_at; also if no poll has succeeded yet), failing (the last poll of the leagues failed), credentials-refused (the newest login was refused), held-removals, rejected-leagues, drift (first seen in the last day), interrupted (the last run of its kind was cut short), webhook (it has accepted nothing for an hour although something is pending, or answered 410), mirror, copy (failing for an hour, or refused).
  count integer?: How many: failed polls since the last good one, removals held and not accepted, open rejections, new rows of drift, changes that the webhook or the mirror lacks. NULL for the others.
  summary text: What is the matter, in a sentence, with the words of the service if there are any.
  what_to_do text: What to do about it, with the command if there is one.

active_leagues: The listed leagues with status active, by priority.
${LEAGUE_COLUMNS}
${SINCE}
  held boolean: 1 if the service no longer sends the league, but its removal is held (held_leagues).

held_leagues: One row for each removal that is held back, including accepted ones that the next poll applies.
  league_id text: The league (leagues.league_id).
  league_name text?: Its name.
  held_since instant: When its removal was first held.
  accepted_at instant?: When the removal was accepted. NULL while it is not.
  reason text?: Why it was held first: empty-list, unreadable-elements or limit. NULL if it was held before the database had schema 2.

league_versions: Every version of every league. The state at a time: WHERE valid_from <= time AND (valid_to IS NULL OR valid_to > time), with the milliseconds in time.
${LEAGUE_COLUMNS}
  valid_from instant: When this version was stored.
  valid_to instant?: When the next one was stored, or the league was removed. NULL while current.
  seq integer: The change that created it (league_changes.seq).
  run_id integer: The run that wrote it (runs.id).

last_polls: Internal: one row for the newest poll of the leagues that ended other than cut short; none before it.
  id integer: Its run.
  outcome text: Its outcome.
  failures integer: How many polls have failed in a row, up to this one.
  good_run_id integer?: The last good poll: this one, unless it failed.

league_field_changes: One row for each field that changed, for changes of kind changed or restored.
  seq integer: The change (league_changes.seq).
  run_id integer: The run that wrote it (runs.id).
  at instant: When it was stored.
  league_id text: The league (leagues.league_id).
  league_name text: Its name after the change.
  field text: Name of the field; extra counts as one field.
  old_value any?: Its value before, as in its column.
  new_value any?: Its value after.
  kind text: changed or restored.

freshness: One row: how fresh the leagues are, when they become stale, and how many there are. attention says what to do.
  last_success_at instant?: When the last successful poll of the leagues ended. NULL before the first.
  age_seconds integer?: Seconds since then, by the reader’s clock.
  last_outcome text?: Outcome of the last finished poll of the leagues.
  consecutive_failures integer: Failed polls of the leagues since the last successful one.
  live_leagues integer: Listed leagues.
  removed_leagues integer: Removed leagues.
  held_removals integer: Removals held back.
  open_rejections integer: Elements that the service still sends but that cannot be stored.
  stale_at instant?: When the leagues become stale unless another poll succeeds; stale if it has passed. NULL before the first success.
`;
