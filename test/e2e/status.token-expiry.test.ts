import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { serve } from '../support/status-server.ts';

it("the remaining lifetime of a token is shown by the service's clock, on the page and in status", async () => {
  const bench = await setUp({ faults: ['wrong-clock'] });
  const { worker, url } = await serve(bench);
  await worker.waitForPoll();
  expect(await (await fetch(url)).text()).toMatch(/token expires <time[^>]*>in (59|60) min</);
  expect((await bench.run(['status'])).stdout).toMatch(/^token expires .*\(in (59|60) min\)$/m);
  const { session } = (await (await fetch(`${url}/status.json`)).json()) as { session: { clock_skew_ms: number } };
  expect(session.clock_skew_ms).toBeGreaterThan(7_000_000);
});
