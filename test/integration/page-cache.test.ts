import { describe, expect, it } from 'vitest';
import { createPageCache } from '../../src/store/page-cache.ts';
import { startScriptedService } from '../support/scripted-service.ts';
import { makeFolder, openBench, withDatabase } from '../support/workplace.ts';

describe('a transaction', () => {
  it.each<[number, number]>([
    [124, -16_000],
    [100_000, -200_000],
    [10_000_000, -524_288],
  ])('that writes %d leagues has a cache of %d, and the usual one afterwards', async (leagues, cacheSize) => {
    using folder = makeFolder();
    await using service = await startScriptedService();
    const path = await (async () => {
      await using bench = await openBench({ folder, url: service.url });
      return bench.path;
    })();
    withDatabase(path, (client) => {
      const size = () => client.pragma('cache_size', { simple: true });
      const usual = size();
      const cache = createPageCache(client);
      cache.widen(leagues);
      expect(size()).toBe(cacheSize);
      cache.restore();
      expect(size()).toBe(usual);
    });
  });
});
