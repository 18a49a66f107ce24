import type * as z from 'zod';
import { parseSchedule, type Schedule } from '../cron.ts';
import type { SettingsSource } from './database.ts';
import type { SettingName } from './name.ts';
import { readSchedule, settingsSchema } from './settings.ts';

const { shape } = settingsSchema;

/** The settings that say when data is stale. */
export type StaleSettings = {
  readonly schedule: Schedule;
  readonly runTimeoutMs: number;
  /** `LEAGUE_SYNC_STALE_AFTER`; undefined if the schedule decides. */
  readonly staleAfterMs: number | undefined;
};

/**
 * The settings that say when data is stale, for a command that needs only the database: it warns of one that cannot be
 * used, and goes by its default.
 */
export function loadStaleSettings({ settings, warn }: SettingsSource): StaleSettings {
  const { values } = settings();
  const warnOf = (name: SettingName): void =>
    warn({
      message: `${name}: "${values[name]}" cannot be used; its default decides when data is stale`,
      fix: 'league-sync check says how to write it',
    });
  const read = <T>(name: SettingName, field: z.ZodType<T>): T => {
    const { success, data } = field.safeParse(values[name]);
    if (success) return data;
    warnOf(name);
    return field.parse(undefined);
  };
  const zone = read('LEAGUE_SYNC_TIMEZONE', shape.LEAGUE_SYNC_TIMEZONE);
  const byDefault = shape.LEAGUE_SYNC_SCHEDULE.parse(undefined);
  const schedule = readSchedule(values.LEAGUE_SYNC_SCHEDULE ?? byDefault, zone);
  if ('fault' in schedule) warnOf('LEAGUE_SYNC_SCHEDULE');
  return {
    schedule: 'fault' in schedule ? parseSchedule(byDefault, zone) : schedule,
    runTimeoutMs: read('LEAGUE_SYNC_RUN_TIMEOUT', shape.LEAGUE_SYNC_RUN_TIMEOUT),
    staleAfterMs: read('LEAGUE_SYNC_STALE_AFTER', shape.LEAGUE_SYNC_STALE_AFTER),
  };
}
