import fc from 'fast-check';
import type { Anomaly, Edit, Failure, Step } from './service.ts';
import { JUNK, UNFORESEEN, UNFORESEEN_NAMES, UNUSABLE, USABLE } from './value.ts';

type Field = { readonly field: string; readonly value: string };

function fieldOf(values: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Field> {
  const fields = Object.entries(values).map(([field, texts]) =>
    fc.record({ field: fc.constant(field), value: fc.constantFrom(...texts) }),
  );
  return fc.oneof(...fields);
}

/** Smaller numbers have fewer digits, and a time that a double may not hold is kept as its text. */
const SMALLEST_NORMAL = 2 ** -1022;
/** Every digit counts, so these have as many as there can be. */
const numberText = fc.oneof(
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => value === 0 || Math.abs(value) >= SMALLEST_NORMAL)
    .map((value) => JSON.stringify(value)),
);
const stringText = fc.string({ unit: 'binary', maxLength: 6 }).map((text) => JSON.stringify(text));
const jsonText = fc.oneof(
  numberText,
  stringText,
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
);

/** A value that usually suits the field. */
const anyField: fc.Arbitrary<Field> = fc.oneof(
  fc.record({ field: fc.constant('priority'), value: numberText }),
  fc.record({ field: fc.constantFrom('league_name', 'city', 'active_poll'), value: fc.oneof(stringText, numberText) }),
  fc.record({ field: fc.constantFrom('default_markets', 'create_datetime', 'last_update_datetime'), value: jsonText }),
);
const unforeseen: fc.Arbitrary<Field> = fc.record({
  field: fc.oneof(fc.constantFrom(...UNFORESEEN_NAMES), fc.string({ unit: 'binary', maxLength: 4 })),
  value: fc.oneof(fc.constantFrom(...UNFORESEEN), jsonText),
});
const usableField = fc.oneof(
  { weight: 8, arbitrary: fieldOf(USABLE) },
  { weight: 2, arbitrary: anyField },
  { weight: 1, arbitrary: unforeseen },
);
const unusableField = fieldOf(UNUSABLE);

/** Leagues by number; the first eight have odd ids. */
function leagueBelow(size: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: size - 1 });
}

function editOf({ leagues, together, churn }: Shape): fc.Arbitrary<Edit> {
  const league = leagueBelow(leagues);
  const count = fc.constantFrom(...together);
  const set = fc
    .tuple(league, usableField)
    .map(([number, field]) => ({ op: 'set' as const, league: number, ...field }));
  return fc.oneof(
    { weight: 3 * churn, arbitrary: fc.record({ op: fc.constant('list' as const), league, count }) },
    { weight: 2 * churn, arbitrary: fc.record({ op: fc.constant('drop' as const), league, count }) },
    { weight: 4, arbitrary: set },
  );
}

function anomalyOf(size: number): fc.Arbitrary<Anomaly> {
  const withField = (op: 'spoil' | 'copy', field: fc.Arbitrary<Field>): fc.Arbitrary<Anomaly> =>
    fc.tuple(leagueBelow(size), field).map(([league, set]) => ({ op, league, ...set }));
  return fc.oneof(
    { weight: 4, arbitrary: withField('spoil', unusableField) },
    { weight: 3, arbitrary: withField('copy', usableField) },
    { weight: 1, arbitrary: withField('copy', unusableField) },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant('copy' as const),
        league: leagueBelow(size),
        field: fc.constant('sport'),
        value: fc.constant('"soccer"'),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom(...JUNK).map((value) => ({ op: 'junk' as const, value })) },
  );
}

const failure = fc.constantFrom<Failure[]>(
  'network',
  'timeout',
  'status',
  'internal',
  'stopped',
  'no-list',
  'mostly-rejected',
);

const OFTEN_SET = [...Object.keys(USABLE), 'nickname'].filter((name) => !['league_id', 'status'].includes(name));

/** Chooses `seldom` once in this many steps. */
function oneIn<T>(many: number, seldom: fc.Arbitrary<T>, mostly: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: many - 1, arbitrary: fc.constant(mostly) }, { weight: 1, arbitrary: seldom });
}

export type Shape = {
  /** The number of leagues. */
  readonly leagues: number;
  /** The numbers of leagues that come or go at once. */
  readonly together: readonly number[];
  /** How much more often leagues come and go than change. */
  readonly churn: number;
  /** The maximum number of edits between two polls. */
  readonly edits: number;
  readonly steps: number;
  /** How rarely a poll has an anomaly, fails, or follows a restart. */
  readonly calm: number;
  readonly limits: readonly number[];
};

function stepOf(shape: Shape): fc.Arbitrary<Step> {
  return fc.record({
    edits: fc.array(editOf(shape), { maxLength: shape.edits }),
    oddities: oneIn(2 + shape.calm, fc.array(anomalyOf(shape.leagues), { minLength: 1, maxLength: 3 }), []),
    oddAgain: fc.constantFrom(0, 0, 1, 2, 2),
    order: fc.nat({ max: 30 }),
    scope: fc.constantFrom('all', 'all', 'all', 'active', 'inactive'),
    quiet: fc.constantFrom([], [], ['priority'], ['__proto__', 'extra'], OFTEN_SET),
    unfiltered: oneIn(4, fc.constant(true), false),
    members: fc.constantFrom('', '"message":"ok","timestamp":null,', '"next_page":2,', '"result":"success","page":{},'),
    limitPercent: fc.constantFrom(...shape.limits),
    atLimit: oneIn(4, fc.constant(true), false),
    failure: oneIn(7 + shape.calm, failure, null),
    clockStepMs: fc.constantFrom(1_000, 0, 1, 300_000, -500, -86_400_000),
    acceptEvery: fc.constantFrom(0, 1, 2),
    restart: oneIn(10 + shape.calm, fc.constant(true), false),
    repeat: oneIn(5, fc.constant(true), false),
  });
}

/** The life of a worker: some polls of a changing service. */
export function stepsOf(shape: Shape): fc.Arbitrary<readonly Step[]> {
  return fc.array(stepOf(shape), { minLength: 3, maxLength: shape.steps });
}
