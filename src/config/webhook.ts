import { findSecret, findSource, requireSource } from './credentials.ts';
import { chooseProxy } from './proxy.ts';
import type { Environment, Settings } from './read-environment.ts';
import {
  assertEncrypted,
  readAll,
  readSetting,
  readWebhookUrl,
  settingsError,
  type Values,
} from './setting-definitions.ts';

/** Reads secret files again, since they may have changed. Throws a SettingsError, whose text contains no secrets. */
export type WebhookSource = NonNullable<ReturnType<typeof findWebhook>>;

/** Where changes are sent. Kept in memory only: the path and the query of the URL may be secrets, too. */
export type WebhookTarget = ReturnType<WebhookSource>;

const URL_NAME = 'LEAGUE_SYNC_WEBHOOK_URL';
const SECRET_NAME = 'LEAGUE_SYNC_WEBHOOK_SECRET';

/** Undefined if no URL is set. Throws a SettingsError. */
export function findWebhook(values: Values, environment: Environment) {
  return findSource(values, [URL_NAME, SECRET_NAME], (url) => {
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
  return requireSource(findWebhook(values, environment), URL_NAME, 'the address that receives the changes');
}

const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/** One key, or two while one replaces the other. */
function readKeys(values: Values): readonly Uint8Array[] {
  const secret = findSecret(values, SECRET_NAME);
  const fix =
    'write whsec_ and the base64 of 24 to 64 random bytes, such as the output of: echo "whsec_$(head -c 32 /dev/urandom | base64)"';
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
