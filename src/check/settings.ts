import { accessSync, constants } from 'node:fs';
import { type Config, loadConfig } from '../config/config.ts';
import { type Environment, warnOfUnknown } from '../config/environment.ts';
import { SETTING_NAMES } from '../config/name.ts';
import { codeOf, SettingsError } from '../errors.ts';
import { type Finding, fail, ok, splitMend, warn } from './finding.ts';

/** Where settings come from. `settings` throws a SettingsError where `.env` cannot be read. */
export type SettingsSource = {
  readonly settings: () => Readonly<Record<string, string>>;
  readonly environment: Environment;
};

export type ReadSettings = {
  readonly findings: readonly Finding[];
  /** Undefined where the settings cannot be used. */
  readonly config: Config | undefined;
};

const NAME = 'settings';

/** Reads the settings; each fault is a finding of its own. */
export function readSettings({ settings, environment }: SettingsSource): ReadSettings {
  const extra = lookAtCertificates(environment);
  let odd: readonly string[] = [];
  try {
    const set = settings();
    odd = warnOfUnknown(set, SETTING_NAMES);
    const config = loadConfig(set, environment);
    const good = ok(NAME, `${Object.keys(set).length} set, all of them usable`);
    return { findings: [...(odd.length === 0 ? [good] : odd.map(describeOdd)), ...extra], config };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const describe = (fault: string): Finding => (odd.includes(fault) ? describeOdd(fault) : describeFault(fault));
    return { findings: [...error.faults.map(describe), ...extra], config: undefined };
  }
}

function describeFault(fault: string): Finding {
  return fail(NAME, splitMend(fault, `correct ${fault.split(':', 1)[0]}; .env.example and the README explain it`));
}

function describeOdd(warning: string): Finding {
  const [message = '', mend = ''] = warning.split(/\. (?=Did you mean )/);
  return warn(NAME, { message, mend });
}

/** Node itself only mutters where it cannot read that file, and trusts nobody in it. */
function lookAtCertificates({ NODE_EXTRA_CA_CERTS: file }: Environment): readonly Finding[] {
  if (file === undefined || file === '') return [];
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch (error) {
    const message = `NODE_EXTRA_CA_CERTS: the file ${file} cannot be read (${codeOf(error)})`;
    return [warn(NAME, { message, mend: 'check its path and permissions' })];
  }
}
