import { loadWebhook } from '../config/webhook.ts';
import { EXIT, UsageError } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import { type FeedStart, findRange } from '../store/queries/feed.ts';
import { prepareStatus } from '../store/queries/overview.ts';
import { createIdentity } from '../store/tables/identity.ts';
import { plural } from '../terminal/text.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { type MessageOrigin, makeMessage, sendMessage } from '../webhook/message.ts';
import { type Moved, moveDeliveries, retryDelivery } from '../webhook/replay.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { startProgress } from './progress.ts';

const NO_DATABASE = { source: null, as_of: null, stale_at: null };

function readOrigin(db: Parameters<typeof createIdentity>[0]): Omit<MessageOrigin, 'madeAt'> {
  const { last_success_at: as_of, stale_at } = prepareStatus(db).freshness();
  return { source: createIdentity(db).id(), as_of, stale_at };
}

/** Sends a message of type `webhook.test`. Needs no database; in one, only what is pending falls due. */
export const testWebhook: Command<object> = async (io) => {
  const target = loadWebhook(io.settings(), io.environment)();
  const madeAt = formatTimestamp(systemClock.now());
  // A test needs no database, so it may be missing, of another version or unreadable.
  const path = tryOrUndefined(() => findDatabase(io, {}));
  const about = path === undefined ? undefined : tryOrUndefined(() => withReader(path, readOrigin));
  const origin = { ...(about ?? NO_DATABASE), madeAt };
  const message = makeMessage('webhook.test', origin, {
    summary: 'A test message of league-sync. Nothing has changed.',
  });
  const host = target.url.host;
  using _ = startProgress(io, `waiting for ${host} to answer`);
  const begun = performance.now();
  const { outcome, what } = await sendMessage(message, target, { clock: systemClock, signal: io.stop });
  const took = formatDuration(performance.now() - begun);
  if (outcome === 'accepted') {
    const isDue =
      path !== undefined && (await retryDelivery(path, { clock: systemClock, stop: io.stop }).catch(() => false));
    const due = isDue ? '; the message that waits for its next attempt is due at once' : '';
    await io.say(`${host} accepted the test message ${message.message_id} (${what}, ${took})${due}`);
    return EXIT.done;
  }
  io.warn({
    message: `${host} did not accept the test message ${message.message_id} (${what}, ${took})`,
    fix: 'check LEAGUE_SYNC_WEBHOOK_URL and LEAGUE_SYNC_WEBHOOK_SECRET, the network, and the log of the receiver',
  });
  return EXIT.failed;
};

export const replayWebhook: Command<DatabaseOption & { readonly since: FeedStart }> = async (
  io,
  { since, ...option },
) => {
  const path = findDatabase(io, option);
  const { after, last } = withReader(path, (db) => findRange(db, since));
  if (after > last) throw new UsageError(`There is no change ${after} yet: the feed ends at ${last}.`);
  const moved = await moveDeliveries(path, after, { clock: systemClock, stop: io.stop });
  const skipped = after - (moved.from ?? after);
  const count = moved.lastSeq - after;
  const what =
    count === 0 ? 'no changes are there to send' : `${plural(count, 'change')} will be sent, from seq ${after + 1} on`;
  const givenUp = skipped > 0 ? `; ${plural(skipped, 'change')} before, not accepted yet, will not be sent` : '';
  await io.say(`${what}${givenUp}${whenSent(io, moved)}`);
  return EXIT.done;
};

export const skipWebhook: Command<DatabaseOption> = async (io, option) => {
  const path = findDatabase(io, option);
  const moved = await moveDeliveries(path, 'end', { clock: systemClock, stop: io.stop });
  const skipped = moved.lastSeq - (moved.from ?? moved.lastSeq);
  const what = skipped === 0 ? 'no changes were pending' : `${plural(skipped, 'change')} will not be sent`;
  const where = `deliveries continue after seq ${moved.lastSeq}`;
  await io.say(`${what}; ${where}${whenSent(io, moved)}`);
  return EXIT.done;
};

function whenSent({ settings }: Pick<ProcessIO, 'settings'>, { enabled }: Moved): string {
  if (enabled) return '';
  const isSet = Object.keys(tryOrUndefined(settings)?.values ?? {}).some((name) => /_WEBHOOK_URL(_FILE)?$/.test(name));
  const starts = isSet ? 'starts' : 'starts with LEAGUE_SYNC_WEBHOOK_URL set';
  return `; nothing is sent before a worker ${starts}: restart the one that runs, if any, or start one with league-sync run`;
}
