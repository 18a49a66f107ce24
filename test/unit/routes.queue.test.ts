import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from '../../src/observe/routes.ts';
import { textResponse } from '../../src/observe/server.ts';
import { makeRequest } from '../support/request.ts';

it('pages are rendered one at a time, and excess requests get 503', async () => {
  let drawing = 0;
  let most = 0;
  const respond = createTurns().enqueue(async () => {
    drawing += 1;
    most = Math.max(most, drawing);
    await sleep(1);
    drawing -= 1;
    return textResponse('drawn');
  });
  const ask = async () => respond(makeRequest('/'));
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(8);
  expect(statuses.filter((status) => status === 503)).toHaveLength(12);
  expect(most).toBe(1);
  expect((await ask()).status).toBe(200);
});

it('work that takes a turn without the queue takes no place from requests', async () => {
  const { take, enqueue } = createTurns();
  const others = Array.from({ length: 20 }, () => take(() => sleep(1)));
  expect((await enqueue(() => textResponse('drawn'))(makeRequest('/'))).status).toBe(200);
  await Promise.all(others);
});

it('a page that fails leaves the queue', async () => {
  let failures = 0;
  const respond = createTurns().enqueue(async () => {
    if (failures === 8) return textResponse('drawn');
    failures += 1;
    throw new Error('not drawn');
  });
  const ask = async () => respond(makeRequest('/'));
  for (let page = 0; page < 8; page += 1) await expect(ask()).rejects.toThrow('not drawn');
  expect((await ask()).status).toBe(200);
});
