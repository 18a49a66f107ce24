import { findPackage } from '../package.ts';
import { dictionaryRows } from '../store/data-dictionary.ts';
import { PARAMETERS } from './parameters.ts';
import { REASONS } from './verdict.ts';

/** A JSON Schema. */
type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;

const STRING = { type: 'string' };
const INTEGER = { type: 'integer' };
const BOOLEAN = { type: 'boolean' };
const INSTANT = { type: 'string', format: 'date-time' };

const describe = (schema: Schema, description: string): Schema => ({ ...schema, description });
const refer = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
/** Later versions may add members. */
const object = (properties: Properties): Schema => ({ type: 'object', required: Object.keys(properties), properties });

const TYPES: Readonly<Record<string, Schema>> = {
  text: STRING,
  integer: INTEGER,
  number: { type: 'number' },
  boolean: BOOLEAN,
  instant: INSTANT,
  json: {},
  any: { type: ['string', 'number'] },
};

/** The columns of a table or view as the data dictionary describes them, without the internal ones. */
function columnsOf(name: string, without: readonly string[] = []): Properties {
  const rows = dictionaryRows().filter(({ object, column_name }) => object === name && column_name !== null);
  const shown = rows.filter(({ description }) => !description.startsWith('Internal:'));
  const entries = shown.map(({ column_name, type, nullable: isNullable, description }) => {
    const schema = TYPES[type ?? ''] ?? {};
    return [
      column_name ?? '',
      describe(isNullable && 'type' in schema ? nullable(schema) : schema, description),
    ] as const;
  });
  return Object.fromEntries(entries.filter(([column]) => !without.includes(column)));
}

const PROVENANCE: Properties = {
  source: describe(nullable(STRING), 'The id of the database; null until it is open.'),
  as_of: describe(nullable(INSTANT), 'When the last good poll of the leagues ended.'),
  stale_at: describe(nullable(INSTANT), 'When its data becomes stale.'),
  up_to_date: describe(BOOLEAN, 'Whether it is not stale.'),
};

const TIMES = ['first_seen_at', 'changed_at'];
const OUTPUT: Properties = {
  ...columnsOf('outputs'),
  pending_changes: describe(nullable(INTEGER), 'How many changes it lacks; null for the copy.'),
  stopped_at: describe(nullable(INSTANT), 'When the receiver of the webhook answered 410 (Gone).'),
};
const RUN = columnsOf('runs', [
  ...['scope', 'attempts', 'body_bytes', 'service_message', 'service_timestamp', 'etag', 'last_modified'],
  ...['not_before', 'program_version', 'stale_at', 'duration_ms', 'unusual_change'],
]);
const SCHEDULE = object({ expression: STRING, timezone: STRING, next_at: INSTANT });
const READINESS: Properties = {
  ready: BOOLEAN,
  reasons: listOf(object({ reason: { enum: REASONS }, message: STRING })),
};

const SCHEMAS: Readonly<Record<string, Schema>> = {
  League: object(columnsOf('active_leagues', [...TIMES, 'held'])),
  StoredLeague: object({
    ...columnsOf('active_leagues', ['held']),
    held: describe(BOOLEAN, 'Whether its removal is held.'),
  }),
  Change: object({
    ...columnsOf('league_changes'),
    league_name: describe(nullable(STRING), 'Its name after the change; the last one of a removed league.'),
    kind: { enum: ['added', 'changed', 'removed', 'restored'] },
    before: nullable({ type: 'object' }),
    after: nullable(refer('League')),
  }),
  Readiness: object(READINESS),
  Status: object({
    state: { enum: ['good', 'warning', 'loading', 'bad'] },
    headline: STRING,
    ...READINESS,
    ...{ version: STRING, now: INSTANT, started_at: INSTANT },
    ...PROVENANCE,
    ...{ service: STRING, scope: { enum: ['all', 'active', 'inactive'] } },
    ...{ schedule: SCHEDULE, profile_schedule: { anyOf: [SCHEDULE, { const: 'off' }] } },
    running: nullable({ enum: ['leagues', 'profile'] }),
    paused_until: nullable(INSTANT),
    session: object({
      logged_in: BOOLEAN,
      token_expires_at: nullable(INSTANT),
      clock_skew_ms: nullable(INTEGER),
      refused: nullable(STRING),
      retry_at: nullable(INSTANT),
    }),
    attention: nullable(listOf(object(columnsOf('attention')))),
    mirror: nullable(object({ ...OUTPUT, mirrored_at: nullable(INSTANT), lag_changes: INTEGER })),
    database: object({ path: STRING, fault: nullable(STRING) }),
    stored: nullable(
      object({
        freshness: object(columnsOf('freshness')),
        last_runs: listOf(object(RUN)),
        last_login: nullable(object({ at: INSTANT, outcome: STRING, error_message: nullable(STRING) })),
        held_removals: { type: 'array' },
        outputs: listOf(object(OUTPUT)),
        webhook: nullable(object({ ...OUTPUT, host: STRING, accepted_seq: INTEGER, accepted_at: nullable(INSTANT) })),
        published: nullable(object({ ...OUTPUT, path: STRING, at: nullable(INSTANT) })),
      }),
    ),
  }),
  Error: object({ error: STRING }),
};

/** The answers are by status, without those that every address with parameters has; 200 is JSON without a type. */
type Endpoint = readonly [id: string, summary: string, answers: Readonly<Record<number, Schema>>, type?: string];

const CHANGES = { changes: listOf(refer('Change')), next: describe(INTEGER, 'The next `since`.'), more: BOOLEAN };
const LEAGUES = { leagues: listOf(refer('StoredLeague')), next: nullable(STRING), more: BOOLEAN };
const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/livez': ['isAlive', 'Whether the process responds.', { 200: object({ live: BOOLEAN }) }],
  '/readyz': [
    'isReady',
    'Whether the data is up to date and can be kept so.',
    { 200: refer('Readiness'), 503: refer('Readiness') },
  ],
  '/metrics': ['readMetrics', 'Metrics for Prometheus.', { 200: STRING }, 'text/plain'],
  '/status.json': ['readStatus', 'What the worker does and the database holds.', { 200: refer('Status') }],
  '/changes.json': [
    'readChanges',
    'The change feed, oldest first.',
    { 200: object({ ...CHANGES, ...PROVENANCE }), 409: object({ last_seq: INTEGER, ...PROVENANCE }) },
  ],
  '/leagues.json': ['readLeagues', 'The live leagues, by `league_id`.', { 200: object({ ...LEAGUES, ...PROVENANCE }) }],
  '/changes.atom': [
    'readAtom',
    'The newest polls that changed something, for feed readers (RFC 4287).',
    { 200: STRING },
    'application/atom+xml',
  ],
  '/openapi.json': ['describe', 'This description.', { 200: { type: 'object' } }],
};
const JSON_TYPE = 'application/json';
const STATUSES: Readonly<Record<string, string>> = {
  200: 'The answer.',
  400: 'A parameter is wrong; the error names it.',
  409: 'The feed has no such change: the file is another one, or was restored.',
  503: 'Not ready, or the database cannot be read now, or too many readers ask.',
};

function describePath([path, [operationId, summary, answers, type = JSON_TYPE]]: readonly [string, Endpoint]) {
  const [, taken] = Object.entries(PARAMETERS).find(([name]) => name === path) ?? [];
  const all = taken === undefined ? answers : { 400: refer('Error'), 503: refer('Error'), ...answers };
  const responses = Object.entries(all).map(([status, schema]) => {
    const content = { [status === '200' ? type : JSON_TYPE]: { schema } };
    return [status, { description: STATUSES[status], content }] as const;
  });
  const parameters = Object.entries(taken ?? {}).map(([name, schema]) => ({ name, in: 'query', schema }));
  return [path, { get: { operationId, summary, parameters, responses: Object.fromEntries(responses) } }] as const;
}

const MESSAGE = { source: nullable(STRING), summary: STRING, as_of: nullable(INSTANT), stale_at: nullable(INSTANT) };
const STATE = { ...MESSAGE, since: nullable(INSTANT), what_to_do: STRING };
const MESSAGES: Readonly<Record<string, Properties>> = {
  'leagues.changed': { ...MESSAGE, from_seq: INTEGER, to_seq: INTEGER, changes: listOf(refer('Change')) },
  ...Object.fromEntries(
    ['data.stale', 'data.fresh', 'removals.held', 'credentials.refused', 'credentials.accepted'].map((type) => [
      type,
      STATE,
    ]),
  ),
  'webhook.test': MESSAGE,
};

const SENT = { 200: { description: 'Accepted, as is any 2xx.' }, 410: { description: 'Nothing more is sent.' } };
const webhook = ([type, data]: readonly [string, Properties]) => {
  const schema = object({ type: { const: type }, timestamp: INSTANT, data: object(data) });
  return [type, { post: { requestBody: { content: { [JSON_TYPE]: { schema } } }, responses: SENT } }] as const;
};

/** The description of everything that programs read here, and of the webhook's messages (OpenAPI 3.1). */
export function describeApi(): Schema {
  const { version } = findPackage();
  return {
    openapi: '3.1.0',
    info: { title: 'league-sync', version, description: 'Later versions only add members.' },
    paths: Object.fromEntries(Object.entries(ENDPOINTS).map(describePath)),
    webhooks: Object.fromEntries(Object.entries(MESSAGES).map(webhook)),
    components: { schemas: SCHEMAS },
  };
}
