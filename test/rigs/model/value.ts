// JSON texts, so that a number keeps the form in which it is sent. An empty one stands for a field that is left out.

const TEXTS = [
  '"One"',
  '"Zwei \\"zwei\\""',
  '"💡"',
  '""',
  '"null"',
  '17',
  '12345678901234567890',
  '2.50',
  '-0',
  '1e400',
];
const NUMBERS = [
  ...['3', '3.0', '"3"', '0', '-0', '-7', '1.5', '"1.50"', '0.1', '1e3', '"1e3"', '1E-7', '1e300', '3000000000'],
  ...['9007199254740993', '"9007199254740993"', '9223372036854775807', '-9223372036854775808', '"-0"', '-0.0'],
  ...['9223372036854775808', '18446744073709551617', '0.12345678901234567890', '123456789012345.25'],
];
const TIMES = [
  ...['null', '', '"2020-01-01"', '"17"', '17', '"true"', 'true', '1.25', '-0', '3.0', '1700000000000', '1e400'],
  ...['9007199254740993', '9223372036854775808', '0.12345678901234567890', '{"b":1,"a":[2]}', '{"a":[2],"b":1}', '[]'],
  ...['"a\\u0000b"', '"\\ud800"'],
];
const LISTS = [
  ...['[]', '{}', 'null', '', '[1,{"a":1,"b":2}]', '[1,{"b":2,"a":1}]', '{"b":[1.50],"a":12345678901234567890}'],
  ...['"text"', '7', '1e400', 'false', '{"__proto__":{"a":null}}', '["\\ud800","\\u0000"]'],
];
const ODD_TEXTS = ['true', '{"a":1}', '[1]', '"a\\u0000b"', '"\\ud800"'];
const FLAGS = ['true', 'false', 'null', '', '"true"', '"false"', '"TRUE"', '1', '0', '{}'];
const OPTIONAL = [...TEXTS, ...ODD_TEXTS, 'null', ''];
/** Of fields that the interface does not name. */
export const UNFORESEEN = [
  '1',
  '"N"',
  '',
  'null',
  '{"x":[null,1.0]}',
  '{"b":1,"a":2}',
  '{"a":2,"b":1}',
  '12345678901234567890',
];

/** Values with which an element can be stored. */
export const USABLE: Readonly<Record<string, readonly string[]>> = {
  league_name: TEXTS,
  sport: TEXTS,
  league_image: TEXTS,
  priority: NUMBERS,
  status: ['"active"', '"active"', '"inactive"', '"inactive"', '"paused"', '""', '1'],
  sport_db_id: OPTIONAL,
  active_season_type: OPTIONAL,
  active_year: OPTIONAL,
  external_id: OPTIONAL,
  external_odds_id: OPTIONAL,
  default_markets: LISTS,
  default_tournaments: FLAGS,
  rankings: FLAGS,
  active_poll: OPTIONAL,
  state: OPTIONAL,
  city: OPTIONAL,
  create_datetime: TIMES,
  last_update_datetime: TIMES,
};
const MISSING = ['null', ''];
/** Values with which it cannot. */
export const UNUSABLE: Readonly<Record<string, readonly string[]>> = {
  league_id: [...ODD_TEXTS, ...MISSING, '""'],
  league_name: [...ODD_TEXTS, ...MISSING],
  sport: [...ODD_TEXTS, ...MISSING],
  priority: [...MISSING, 'true', '{}', '"high"', '""', '" 3"', '"007"', '"18446744073709551617"', '1e400', '"1e400"'],
  status: [...ODD_TEXTS, ...MISSING],
};

/** Elements that are no leagues. */
export const JUNK = [
  '7',
  'null',
  '"a"',
  '[]',
  '{}',
  '{"league_id":""}',
  '{"league_id":"a"}',
  '{"league_id":7,"sport":1}',
];

/** Names of such fields that a program could stumble over. */
export const UNFORESEEN_NAMES = ['nickname', '__proto__', 'extra', 'content_hash', '', 'a.b', '"', '$', '\ud800', '\0'];
