import { renameSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { serveHere } from '../support/status-server.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** Answers, good and bad, of every path; `away`: while the database is not at its place. */
const ANSWERS = [
  ['/livez', 200],
  ['/readyz', 200],
  ['/status.json', 200],
  ['/changes.json?limit=3', 200],
  ['/changes.json?wait=1ms', 200],
  ['/changes.json?since=999', 409],
  ['/changes.json?since=-1', 400],
  ['/leagues.json?limit=3', 200],
  ['/leagues.json?limit=1000', 200],
  ['/leagues.json?limit=0', 400],
  ['/openapi.json', 200],
] as const;
const AWAY = [
  ['/livez', 200],
  ['/readyz', 503],
  ['/status.json', 200],
  ['/changes.json', 503],
  ['/leagues.json', 503],
] as const;

/** The same schema, which allows no other members. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, close(part)]));
  return 'required' in closed && 'properties' in closed ? { ...closed, additionalProperties: false } : closed;
}

it('/openapi.json describes every member of the real answers, and no others', async () => {
  const bench = await setUp({ faults: ['bad-rows'] });
  const receiver = await startReceiver();
  const { worker, url } = await serveHere(bench, { ...receiver.env, LEAGUE_SYNC_PUBLISH: `${bench.folder}/copy.db` });
  await worker.waitForPoll();
  const api = await (await fetch(`${url}/openapi.json`)).json();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, schemas: { api: close(api) as object } });
  const check = async (path: string, status: number): Promise<void> => {
    const answer = await fetch(url + path);
    const place = (path.split('?')[0] ?? '').replaceAll('/', '~1');
    const schema = `api#/paths/${place}/get/responses/${status}/content/application~1json/schema`;
    expect(answer.status, path).toBe(status);
    const isValid = ajv.validate({ $ref: schema }, await answer.json());
    expect([isValid, ajv.errorsText()], path).toEqual([true, 'No errors']);
  };
  for (const [path, status] of ANSWERS) await check(path, status);
  renameSync(bench.database, `${bench.database}.away`);
  for (const [path, status] of AWAY) await expect.poll(() => check(path, status).then(() => true)).toBe(true);
  renameSync(`${bench.database}.away`, bench.database);
});
