import type { Problem } from '../errors.ts';
import { findSecret, findSource } from './credentials.ts';
import type { Environment, Settings } from './environment.ts';
import { chooseProxy, type ProxyServer } from './proxy.ts';
import { assertEncrypted, readAll, readSetting, readWebhookUrl, settingsError, type Values } from './settings.ts';

/** Where changes are sent. Kept in memory only: the path and the query of the URL may be secrets, too. */
export type WebhookTarget = {
  readonly url: URL;
  /** One key, or two while one replaces the other. */
  readonly keys: readonly Uint8Array[];
  readonly proxy: ProxyServer | undefined;
};

/** Reads secret files again, since they may have changed. Throws a SettingsError, whose text contains no secrets. */
export type WebhookSource = () => WebhookTarget;

const URL_NAME = 'LEAGUE_SYNC_WEBHOOK_URL';
const SECRET_NAME = 'LEAGUE_SYNC_WEBHOOK_SECRET';

/** Undefined if no URL is set. Throws a SettingsError. */
export function findWebhook(values: Values, environment: Environment): WebhookSource | undefined {
  return findSource(values, URL_NAME, (url) => {
    const found = readAll({
      url: () => {
        const address = readWebhookUrl(url.read(), url.name);
        assertEncrypted(address, url.name, 'the changes', readSetting(values, 'LEAGUE_SYNC_ALLOW_HTTP'));
        return address;
      },
      keys: () => readKeys(values),
    });
    return { ...found, proxy: chooseProxy(found.url, environment) };
  });
}

/** For `webhook test`, which needs no other settings. Throws a SettingsError, also if no URL is set. */
export function loadWebhook({ values }: Settings, environment: Environment): WebhookSource {
  const source = findWebhook(values, environment);
  if (source !== undefined) return source;
  throw settingsError(`${URL_NAME} is not set`, 'set it to the address that receives the changes');
}

/** A warning if there is a secret, but no URL. */
export function findUnusedSecret(values: Values, webhook: WebhookSource | undefined): readonly Problem[] {
  const name = [SECRET_NAME, `${SECRET_NAME}_FILE`].find((name) => values[name] !== undefined);
  if (webhook !== undefined || name === undefined) return [];
  return [{ message: `${name} is set, but ${URL_NAME} is not`, fix: `set ${URL_NAME}, or remove the secret` }];
}

const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

function readKeys(values: Values): readonly Uint8Array[] {
  const secret = findSecret(values, SECRET_NAME);
  const fix =
    'write whsec_ and the base64 of 24 to 64 random bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)"';
  if (secret === undefined) throw settingsError(`${SECRET_NAME} is not set, but ${URL_NAME} is`, fix);
  const texts = secret.read().trim().split(/\s+/);
  if (texts.length > 2)
    throw settingsError(
      `${secret.name} holds ${texts.length} secrets`,
      'keep one, or two while one replaces the other',
    );
  return texts.map((text) => {
    const key = parseKey(text);
    if (key === undefined) throw settingsError(`${secret.name} is not valid`, fix);
    return key;
  });
}

function parseKey(text: string): Uint8Array | undefined {
  const base64 = /^whsec_([A-Za-z\d+/]+)={0,2}$/.exec(text)?.[1];
  if (base64 === undefined) return undefined;
  const key = Buffer.from(base64, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === base64;
  return isWhole && key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : undefined;
}
