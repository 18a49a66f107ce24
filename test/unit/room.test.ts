import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { createRoom } from '../../src/store/room.ts';

describe('room for a transaction', () => {
  it.each<[number, number]>([
    [124, -16_000],
    [100_000, -200_000],
    [10_000_000, -524_288],
  ])('that writes %d leagues is a cache of %d, and what it was afterwards', (leagues, cacheSize) => {
    const client = new Database(':memory:');
    const room = createRoom(client);
    const usual = client.pragma('cache_size', { simple: true });
    room.makeFor(leagues);
    expect(client.pragma('cache_size', { simple: true })).toBe(cacheSize);
    room.giveBack();
    expect(client.pragma('cache_size', { simple: true })).toBe(usual);
  });
});
