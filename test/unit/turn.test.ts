import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { replyText } from '../../src/observe/reply.ts';
import { createTurns } from '../../src/observe/turn.ts';

function createPage() {
  let drawing = 0;
  let most = 0;
  const respond = createTurns()(async () => {
    drawing += 1;
    most = Math.max(most, drawing);
    await sleep(1);
    drawing -= 1;
    return replyText('drawn');
  });
  const query = new URLSearchParams();
  const ask = async (isGone = (): boolean => false) => respond({ method: 'GET', path: '/', query, isGone });
  return { ask, most: () => most };
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
  let gone = false;
  const answer = ask(() => gone);
  gone = true;
  expect((await answer).status).toBe(503);
  expect(most()).toBe(0);
});
