import { expect, it } from 'vitest';
import { setUpSynced } from '../support/bench.ts';

it('the database can be sorted at length where no folder takes temporary files, as in a read-only container', async ({
  skip,
}) => {
  if (process.getuid?.() !== 0) return skip('only root can mount a disk');
  const bench = await setUpSynced();
  const close = 'for d in /tmp /var/tmp; do mount --bind $d $d && mount -o remount,bind,ro $d || exit 99; done';
  const through = ['unshare', '-m', 'sh', '-c', `${close}; cd "$PWD"; exec "$@"`, 'sh'];
  const sql = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      SELECT count(*) AS n FROM (SELECT randomblob(1000) AS b FROM n ORDER BY b LIMIT 90000)`;
  const answer = await bench.runProcess(['query', '--format', 'csv', sql], {}, { through });
  expect(answer).toMatchObject({ code: 0, stdout: 'n\n90000\n' });
});
