import type { Problem } from '../errors.ts';
import { parseSchedule, type Schedule } from '../time/next-cron-time.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { readSetting, settingsError, type Values } from './setting-definitions.ts';

export function readSchedule(values: Values, name: 'LEAGUE_SYNC_SCHEDULE' | 'LEAGUE_SYNC_PROFILE_SCHEDULE'): Schedule {
  const expression = readSetting(values, name);
  try {
    // An invalid time zone counts as UTC here: it is reported separately and must not hide an invalid expression.
    return parseSchedule(expression, tryOrUndefined(() => readSetting(values, 'LEAGUE_SYNC_TIMEZONE')) ?? 'UTC');
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is not a cron expression';
    const fix = 'write 5 fields such as */5 * * * *, or 6 with seconds first';
    throw settingsError(`${name}: "${expression}" is not valid (${why})`, fix);
  }
}

export function readProfileSchedule(values: Values): Schedule | 'off' {
  const isOff = values.LEAGUE_SYNC_PROFILE_SCHEDULE?.trim() === 'off';
  return isOff ? 'off' : readSchedule(values, 'LEAGUE_SYNC_PROFILE_SCHEDULE');
}

type Schedules = { readonly schedule: Schedule; readonly profileSchedule: Schedule | 'off'; readonly timezone: string };

/** Abbreviations in the IANA database. ICU also knows others, such as BST and IST, and takes them for a zone in Asia. */
const KNOWN_ABBREVIATION = /^(EST|MST|HST|CET|EET|MET|WET|GMT|UTC|UCT|PRC|ROC|ROK)$/i;

/** Finds what is valid, but hardly means what was intended. */
export function findScheduleDoubts({ schedule, profileSchedule, timezone }: Schedules): readonly Problem[] {
  const longSteps = (name: string, { longSteps }: Schedule): readonly Problem[] =>
    longSteps.map((part) => ({
      message: `${name}: the step of "${part}" is longer than its field, so it names only the first value`,
      fix: 'write the values themselves, or a step in the next field, such as 0 */2 for every two hours',
    }));
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions();
  const message = `LEAGUE_SYNC_TIMEZONE: "${timezone}" means ${timeZone}`;
  return [
    ...longSteps('LEAGUE_SYNC_SCHEDULE', schedule),
    ...(profileSchedule === 'off' ? [] : longSteps('LEAGUE_SYNC_PROFILE_SCHEDULE', profileSchedule)),
    ...(/^[a-z]{3}$/i.test(timezone) && !KNOWN_ABBREVIATION.test(timezone)
      ? [{ message, fix: 'write the IANA name of the zone that you mean, such as Europe/London' }]
      : []),
  ];
}
