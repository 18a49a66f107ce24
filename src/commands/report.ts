import { writeFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import type { CheckResult } from '../check/result.ts';
import { findSecret } from '../config/credentials.ts';
import { databasePath } from '../config/paths.ts';
import { readSettings } from '../config/read-environment.ts';
import { SETTINGS, type SettingName, type Values } from '../config/setting-definitions.ts';
import { findPackage } from '../package.ts';
import { looksRandom, redact } from '../redact.ts';
import { explainErrors } from '../store/database-error.ts';
import { readForReport } from '../store/queries/bug-report.ts';
import { systemClock } from '../time/clock.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { ProcessIO } from './command.ts';
import { statusJson } from './status.ts';

/** A value with one of these may be a secret, or hold one: a URL in its path, too. */
const SECRET = /URL|USERNAME|PASSWORD|SECRET/;
const OF_NODE = /^(https?_proxy|no_proxy|node_\w+)$/i;
const OWNER_ONLY = 0o600;

/** Writes what a bug report needs: one JSON object without secrets. Throws a DatabaseError if that fails. */
export async function writeReport(io: ProcessIO, file: string, checks: readonly CheckResult[]): Promise<void> {
  // Neither a `.env` nor a database that cannot be read keep the rest out: the checks say what is wrong with them.
  const { values } = tryOrUndefined(io.settings) ?? readSettings(io.environment);
  const path = databasePath(values);
  const { sqlite, schema, ...stored } = tryOrUndefined(() => readForReport(path)) ?? {};
  const report = {
    made_at: new Date(systemClock.now()).toISOString(),
    versions: {
      league_sync: findPackage().version,
      node: io.nodeVersion,
      sqlite,
      schema,
      os: `${platform()} ${release()} ${arch()}`,
    },
    settings: describeSettings(io, values),
    checks,
    status: await statusJson(io, path).then(JSON.parse, () => null),
    ...stored,
  };
  const secrets = findSecrets(values);
  const clear = (_: string, value: unknown) => (typeof value === 'string' ? redact(value, secrets) : value);
  const text = `${JSON.stringify(report, clear, 2)}\n`;
  explainErrors(file, () => writeFileSync(file, text, { flag: 'wx', mode: OWNER_ONLY }), 'copy');
}

function describeSettings({ environment }: ProcessIO, values: Values) {
  const ofNode = Object.keys(environment).filter((name) => OF_NODE.test(name));
  const names = new Set([...Object.keys(SETTINGS), ...Object.keys(values), ...ofNode]);
  return [...names].map((name) => {
    const { fallback = null } = (SETTINGS[name as SettingName] ?? {}) as { readonly fallback?: string };
    const source = environment[name]?.trim() ? 'environment' : values[name] === undefined ? 'default' : '.env';
    const isShown = name in SETTINGS && !SECRET.test(name);
    return { name, source, ...(isShown && { value: values[name] ?? fallback }) };
  });
}

/** Also what only a file holds, and the parts of URLs. */
function findSecrets(values: Values): readonly string[] {
  return ['PASSWORD', 'HEARTBEAT_URL', 'WEBHOOK_URL', 'WEBHOOK_SECRET', 'POSTGRES_URL'].flatMap((name) => {
    const text = tryOrUndefined(() => findSecret(values, `LEAGUE_SYNC_${name}`)?.read()) ?? '';
    const { password = '', pathname = '', search = '' } = URL.parse(text) ?? {};
    // The path of a database's URL is its name, which is in the settings of many others.
    const address = name === 'POSTGRES_URL' ? [] : [pathname.slice(1), search.slice(1)];
    const decoded = tryOrUndefined(() => decodeURIComponent(password)) ?? '';
    const texts = name === 'WEBHOOK_SECRET' ? text.split(/\s+/) : [text];
    return [...texts, password, decoded, ...address.filter(looksRandom)];
  });
}
