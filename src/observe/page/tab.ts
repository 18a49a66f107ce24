import { formatAge } from '../../duration.ts';
import type { Monitor } from '../monitor.ts';
import type { Reason, Verdict } from '../verdict.ts';
import { count, countOf } from './words.ts';

/** Before every title, so that a narrow tab still says it. */
export const SIGNS: Readonly<Record<Verdict['state'], string>> = { good: '✓', warning: '!', loading: '…', bad: '✗' };

const TROUBLES: Readonly<Record<Exclude<Reason['reason'], 'stale' | 'database'>, string>> = {
  starting: 'starting',
  'no-good-poll': 'no data yet',
  'credentials-refused': 'credentials refused',
};

/** How things stand, as short as the title of a tab has to be: `133 leagues`, `44 held`, `43 min old`. */
export function sumUp(monitor: Monitor): string {
  const { ready, state, headline, reasons } = monitor.verdict();
  const { held_removals: held = 0, open_rejections: rejected = 0, live_leagues: live = 0 } = monitor.counts() ?? {};
  const failures = monitor.consecutiveFailures() ?? 0;
  if (!ready) {
    const gravest = reasons[0]?.reason ?? 'starting';
    if (state === 'loading') return gravest === 'starting' ? 'starting' : 'loading';
    if (gravest === 'database') return headline.replace(/^The /, '');
    return gravest === 'stale' ? dataAge(monitor) : TROUBLES[gravest];
  }
  if (failures > 0) return `${countOf(failures, 'poll')} failed`;
  if (held > 0) return `${count(held)} held`;
  return rejected > 0 ? `${count(rejected)} rejected` : countOf(live, 'league');
}

function dataAge(monitor: Monitor): string {
  return formatAge(monitor.lastSuccess()?.ageMs ?? 0).replace(/ ago$/, ' old');
}
