import { accessSync, constants } from 'node:fs';
import { type Config, loadConfig } from '../config/config.ts';
import type { Environment, Settings } from '../config/environment.ts';
import { codeOf, type Fault, SettingsError } from '../errors.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Where settings come from. `settings` throws a SettingsError where `.env` cannot be read. */
export type SettingsSource = {
  readonly settings: () => Settings;
  readonly environment: Environment;
};

export type ReadSettings = {
  readonly findings: readonly Finding[];
  /** Undefined where the settings cannot be used. */
  readonly config: Config | undefined;
  /** What to do about all of what was found; undefined if each line says it. */
  readonly advice?: string | undefined;
};

const NAME = 'settings';

/** Reads the settings; each fault is a finding of its own. */
export function readSettings({ settings, environment }: SettingsSource): ReadSettings {
  const extra = lookAtCertificates(environment);
  const odd = (fault: Fault): Finding => warn(NAME, fault);
  try {
    const set = settings();
    const config = loadConfig(set, environment);
    const good = ok(NAME, `${Object.keys(set.values).length} set, all of them usable`);
    const { warnings } = config;
    return { findings: [...(warnings.length === 0 ? [good] : warnings.map(odd)), ...extra], config };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const bad = error.faults.map((fault) => fail(NAME, fault));
    return { findings: [...bad, ...error.warnings.map(odd), ...extra], config: undefined, advice: error.advice };
  }
}

/** Node itself only mutters where it cannot read that file, and trusts nobody in it. */
function lookAtCertificates({ NODE_EXTRA_CA_CERTS: file }: Environment): readonly Finding[] {
  if (file === undefined || file === '') return [];
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch (error) {
    const message = `NODE_EXTRA_CA_CERTS: the file ${file} cannot be read (${codeOf(error)})`;
    return [warn(NAME, { message, fix: 'check its path and permissions' })];
  }
}
