import { type DictionaryRow, dictionaryRows, rowsOf } from '../store/data-dictionary.ts';

/** A table of the mirror, with the columns of the table of the same name in SQLite, except for the internal ones. */
export type Table = { readonly name: string; readonly columns: readonly Column[]; readonly key: readonly string[] };
export type Column = { readonly name: string; readonly type: ColumnType };
export type ColumnType = NonNullable<DictionaryRow['type']>;

/** Whether the rows have an id, by which SQLite's rowids order them, too. */
export const hasId = ({ key }: Pick<Table, 'key'>): boolean => key[0] === 'id';

/** PostgreSQL's type for each type of the dictionary. */
export const POSTGRES_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
  instant: 'timestamptz',
  json: 'jsonb',
  any: 'text',
};

/** The tables that are made equal to the file at its end; `leagues` follows from the feed, `league_changes`. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  runs: ['id'],
  players: ['player_id'],
  rejected_leagues: ['id'],
  held_removals: ['league_id'],
  drift: ['field', 'kind', 'detail'],
  data_dictionary: ['object', 'position'],
};

const MIRRORED = ['leagues', 'league_changes', ...Object.keys(KEYS)];
export const VIEWS = ['active_leagues', 'league_versions', 'league_field_changes', 'freshness'];

const OWN_DOCS = {
  mirror_state: {
    '': 'One row: how far this mirror has come, and of which database it is.',
    'database text': 'Id of the database (database_identity.id).',
    'seq integer': 'The last change of the feed that is mirrored (league_changes.seq); 0 if none is.',
    'at instant?': 'When that change was stored (league_changes.at).',
    'mirrored_at instant?': 'When the last transaction of the mirror was written, by the clock of the server.',
    'program_version text': 'Version of league-sync that wrote it.',
  },
  mirror_migrations: {
    '': 'The versions of the tables and views of this mirror.',
    'version integer': 'Number of the version.',
    'name text': 'Its name.',
    'database_path text': 'Host and path of the database that last connected.',
    'applied_at instant': 'When it was applied, by the clock of the server.',
  },
};

/** All relations that the mirror makes. */
export const RELATIONS = [...VIEWS, ...MIRRORED, 'mirror_state', 'mirror_migrations'];

/** What describes the relations of the mirror and their columns, for their comments. */
export function describedRows(): readonly DictionaryRow[] {
  return [...dictionaryRows(), ...rowsOf('table', OWN_DOCS)].filter(isMirrored);
}

/** Whether the mirror has what the row of the dictionary describes. */
function isMirrored({ object, description }: Pick<DictionaryRow, 'object' | 'description'>): boolean {
  return RELATIONS.includes(object) && !description.startsWith('Internal:');
}

/** The longest key that PostgreSQL takes into an index in any case, in bytes. */
const MAX_KEY_BYTES = 2_000;

/** A condition in SQLite: whether PostgreSQL can index the key. */
const fitsIndex = (key: string): string => `length(CAST(${key} AS BLOB)) <= ${MAX_KEY_BYTES}`;
export const FITS_INDEX = fitsIndex('league_id');

/** What is mirrored of the table in SQLite. */
export function sourceOf({ name, columns }: Table) {
  const names = columns.map((column) => column.name);
  return { name, columns: names, where: conditionOf(name, names) };
}

function conditionOf(name: string, columns: readonly string[]): string {
  if (name === 'data_dictionary') return IS_MIRRORED;
  const key = ['league_id', 'player_id'].find((id) => columns.includes(id));
  return key === undefined || name === 'rejected_leagues' ? 'true' : fitsIndex(key);
}

/** Selects from `data_dictionary` in SQLite what the mirror has, internal columns aside. */
const IS_MIRRORED = `description NOT LIKE 'Internal:%' AND object IN (${literals([...VIEWS, ...MIRRORED])})`;

export const LEAGUES = tableOf('leagues', ['league_id']);
export const LEAGUE_CHANGES = tableOf('league_changes', ['seq']);
export const OTHER_TABLES: readonly Table[] = Object.entries(KEYS).map(([name, key]) => tableOf(name, key));

function tableOf(name: string, key: readonly string[]): Table {
  const columns = dictionaryRows()
    .filter((row) => row.object === name && row.position > 0 && isMirrored(row))
    .map(({ column_name, type }) => ({ name: column_name ?? '', type: type ?? 'text' }));
  return { name, columns, key };
}

function literals(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
