import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { z } from 'zod';

// The baseline of the benchmark: a first script with these libraries. It logs in, fetches, validates, and upserts row
// by row in one transaction; no history, no retries, no removals.

const Login = z.object({ result: z.literal('success'), access_token: z.string() });

const League = z.object({
  league_id: z.string(),
  league_name: z.string(),
  sport: z.string(),
  league_image: z.string(),
  priority: z.number(),
  status: z.string(),
  sport_db_id: z.string().nullish(),
  active_season_type: z.string().nullish(),
  active_year: z.string().nullish(),
  external_id: z.string().nullish(),
  external_odds_id: z.string().nullish(),
  default_markets: z.array(z.unknown()).nullish(),
  default_tournaments: z.boolean().nullish(),
  rankings: z.boolean().nullish(),
  active_poll: z.string().nullish(),
  state: z.string().nullish(),
  city: z.string().nullish(),
  create_datetime: z.string().nullable(),
  last_update_datetime: z.string().nullable(),
});
const Answer = z.object({ leagues: z.array(League) });

const leagues = sqliteTable('leagues', {
  league_id: text().primaryKey(),
  league_name: text().notNull(),
  sport: text().notNull(),
  league_image: text().notNull(),
  priority: real().notNull(),
  status: text().notNull(),
  sport_db_id: text(),
  active_season_type: text(),
  active_year: text(),
  external_id: text(),
  external_odds_id: text(),
  default_markets: text({ mode: 'json' }),
  default_tournaments: integer({ mode: 'boolean' }),
  rankings: integer({ mode: 'boolean' }),
  active_poll: text(),
  state: text(),
  city: text(),
  create_datetime: text(),
  last_update_datetime: text(),
});

async function ask(path: string, options: RequestInit): Promise<unknown> {
  const response = await fetch(process.env.BASE_URL + path, options);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}

const basic = Buffer.from(`${process.env.API_USERNAME}:${process.env.API_PASSWORD}`).toString('base64');
const login = await ask('/players/v1/authenticate/login', {
  method: 'POST',
  headers: { authorization: `Basic ${basic}`, 'content-type': 'application/json' },
  body: JSON.stringify({ attribute: 'username' }),
});
const { access_token } = Login.parse(login);
const answer = Answer.parse(await ask('/events/v1/leagues/', { headers: { authorization: `Bearer ${access_token}` } }));

const client = new Database(process.env.DATABASE);
client.pragma('journal_mode = WAL');
client.exec(`CREATE TABLE IF NOT EXISTS leagues (
  league_id TEXT PRIMARY KEY, league_name TEXT NOT NULL, sport TEXT NOT NULL, league_image TEXT NOT NULL,
  priority REAL NOT NULL, status TEXT NOT NULL, sport_db_id TEXT, active_season_type TEXT, active_year TEXT,
  external_id TEXT, external_odds_id TEXT, default_markets TEXT, default_tournaments INTEGER, rankings INTEGER,
  active_poll TEXT, state TEXT, city TEXT, create_datetime TEXT, last_update_datetime TEXT
)`);
const db = drizzle({ client });
db.transaction((tx) => {
  for (const league of answer.leagues) {
    tx.insert(leagues).values(league).onConflictDoUpdate({ target: leagues.league_id, set: league }).run();
  }
});
client.close();
