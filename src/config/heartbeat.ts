import { type Fault, SettingsError } from '../errors.ts';
import { collect, findSource, readSetting, type SecretSource } from './credentials.ts';
import type { Environment } from './environment.ts';
import { chooseProxy, type ProxyServer } from './proxy.ts';
import { faultsOf, heartbeatSchema } from './settings.ts';

/** Where the heartbeat goes, and through what. The path of the address is a secret: never to be shown. */
export type HeartbeatTarget = { readonly url: URL; readonly proxy: ProxyServer | undefined };

/** Gives the target as it is now: a file that holds the address is read anew. Throws a SettingsError. */
export type HeartbeatSource = () => HeartbeatTarget;

const NAME = 'LEAGUE_SYNC_HEARTBEAT_URL';

/** Where the heartbeat goes, if anywhere. What is wrong with that is added to the faults. */
export function findHeartbeat(
  values: Readonly<Record<string, string>>,
  environment: Environment,
  faults: Fault[],
): HeartbeatSource | undefined {
  const source = collect(() => findSource(values, NAME), faults);
  if (source === undefined) return undefined;
  const read = (): HeartbeatTarget => readTarget(source, environment);
  return collect(read, faults) && read;
}

function readTarget(source: SecretSource, environment: Environment): HeartbeatTarget {
  const name = 'file' in source ? (`${NAME}_FILE` as const) : NAME;
  const { data: url, error } = heartbeatSchema.safeParse(readSetting(NAME, source));
  if (error) throw new SettingsError(faultsOf(error, name));
  const faults: Fault[] = [];
  const proxy = chooseProxy(url, environment, faults);
  if (faults.length > 0) throw new SettingsError(faults);
  return { url, proxy };
}
