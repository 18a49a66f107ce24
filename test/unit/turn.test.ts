import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { createTurns } from '../../src/observe/turn.ts';

function createPage() {
  const app = new Hono();
  let drawing = 0;
  let most = 0;
  app.get('/', createTurns(), async (c) => {
    drawing += 1;
    most = Math.max(most, drawing);
    await sleep(1);
    drawing -= 1;
    return c.text('drawn');
  });
  return { ask: (signal?: AbortSignal) => app.request('/', signal === undefined ? {} : { signal }), most: () => most };
}

it('pages are drawn one at a time, and of a crowd those that come late are told to try again', async () => {
  const { ask, most } = createPage();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(8);
  expect(statuses.filter((status) => status === 503)).toHaveLength(12);
  expect(most()).toBe(1);
  expect((await ask()).status).toBe(200);
});

it('nothing is drawn for whoever has gone meanwhile', async () => {
  const { ask, most } = createPage();
  const gone = new AbortController();
  const answer = ask(gone.signal);
  gone.abort();
  expect((await answer).status).toBe(503);
  expect(most()).toBe(0);
});
