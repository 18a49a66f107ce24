import { isSuccess } from '../../../src/http/response.ts';
import type { Row } from '../../support/database.ts';
import type { World } from './service.ts';

type Around = {
  readonly hasData: () => boolean;
  readonly hasStepped: () => boolean;
  readonly isRefusalUntold: (at: number) => boolean;
  /** Whether nothing was granted since the last refused login. */
  readonly isStillRefused: (at: number) => boolean;
  readonly triedAt: (id: string) => number;
  /** The changes of the feed from one to another, as JSON. */
  readonly feed: (from: number, to: number) => string;
  /** Whether the data had been stale for long. */
  readonly isStaleUntold: (at: number) => boolean;
};

/** Of a message (contract, 10). */
const MOST_CHANGES = 100;
const MOST_BYTES = 65_536;

/** Each change once or more, in order and without a gap; a message keeps its id and bytes; no end before its beginning. */
export function createDeliveryJudge(
  fail: (text: string) => void,
  { hasData, hasStepped, isRefusalUntold, isStillRefused, isStaleUntold, triedAt, feed }: Around,
) {
  const bodies = new Map<string, string>();
  let last = { to: 0, isAccepted: true };
  /** After which changes a message may begin because the webhook was moved, or the database restored. */
  let moved: readonly number[] = [];
  const sent = { stale: false, refused: false };
  let [wasTold, mayRepeat] = [false, false];
  /** Since when more removals are held than when that was told; undefined if no more are. */
  let moreHeldAt: number | undefined;
  /** Whether the receiver may know of a state of which the database does not know that it was told. */
  let isUnsure = false;
  return {
    move: (seq: number): void => {
      moved = [...moved, seq];
      // Whether data is stale is judged by the machine's clock there, not by that of the world: an end may be told again.
      // One that was pending is dropped.
      mayRepeat = wasTold;
      isUnsure ||= sent.stale || sent.refused;
    },
    /** That the last message was sent may not be recorded: what it told may be told again. */
    kill: (now: number): void => {
      mayRepeat = wasTold;
      moreHeldAt = now;
      isUnsure ||= sent.stale || sent.refused;
    },
    noteHeld: (at: number): void => {
      moreHeldAt = at;
    },
    /** An end is told of each state that was told, once faults have ended long ago. */
    expectEnded: (): void => {
      if (!isUnsure && (sent.stale || sent.refused)) fail(`the receiver still believes ${JSON.stringify(sent)}`);
    },
    /** The webhook goes on where the backup was; a message that it had in flight keeps its bounds. */
    restore: (webhook: Row | undefined, now: number): void => {
      moved = [...moved, ...[webhook?.accepted_seq, webhook?.message_to_seq, last.to].map(Number)];
      [moreHeldAt, isUnsure] = [now, true];
      sent.stale ||= webhook?.announced_stale === 1;
      sent.refused ||= webhook?.announced_refused === 1;
    },
    judge: (delivered: World['delivered'][number] | undefined): void => {
      if (delivered === undefined) return;
      const { id, body, status } = delivered;
      const known = bodies.get(id);
      if (known !== undefined && known !== body) fail(`message ${id} has changed`);
      bodies.set(id, body);
      const { type, data, timestamp } = JSON.parse(body);
      const isAccepted = status !== undefined && isSuccess(status);
      const isAboutData = type === 'leagues.changed' || type.startsWith('data.');
      // After a step back, instants go on from the latest that was stored.
      if (
        !hasStepped() &&
        (isAboutData || data.as_of !== null) &&
        !(Date.parse(data.as_of) < Date.parse(data.stale_at))
      )
        fail(`${type} of data from ${data.as_of}, stale at ${data.stale_at}`);
      if (type === 'leagues.changed') {
        if (known === undefined && !sent.stale && isStaleUntold(triedAt(id)))
          fail('changes were sent before data.stale');
        if (timestamp !== data.changes.at(-1)?.at) fail(`message ${id} of ${data.changes.at(-1)?.at} has ${timestamp}`);
        if (data.changes.length > MOST_CHANGES || body.length > MOST_BYTES) fail(`message ${id} is too long`);
        const seqs = data.changes.map(({ seq }: { seq: number }) => seq);
        if (seqs.some((seq: number, index: number) => seq !== data.from_seq + index) || seqs.at(-1) !== data.to_seq)
          fail(`message ${id} of ${data.from_seq} to ${data.to_seq} has the changes ${seqs}`);
        if (known === undefined) {
          if (JSON.stringify(data.changes) !== feed(data.from_seq, data.to_seq))
            fail(`message ${id} has other changes than ${data.from_seq} to ${data.to_seq} of the feed`);
          if (!sent.refused && isRefusalUntold(triedAt(id))) fail('changes were sent before credentials.refused');
          const follows = last.isAccepted && data.from_seq === last.to + 1;
          // A message that was made before the webhook was moved may come after that.
          const isMoved = !follows && moved.includes(data.from_seq - 1);
          // Only one of them: it may have been moved there more than once.
          if (isMoved) moved = moved.toSpliced(moved.indexOf(data.from_seq - 1), 1);
          else if (!follows) fail(`a gap: ${last.to}, then ${data.from_seq}`);
          last = { to: data.to_seq, isAccepted };
        } else if (data.to_seq === last.to) last = { to: last.to, isAccepted: last.isAccepted || isAccepted };
        return;
      }
      // Also one that was sent before a backup was restored.
      sent.stale ||= type === 'data.stale';
      sent.refused ||= type === 'credentials.refused';
      if (known !== undefined) return;
      if (type === 'credentials.accepted' && isStillRefused(triedAt(id)))
        fail('credentials.accepted, but nothing was granted');
      if (type === 'removals.held') {
        if (moreHeldAt === undefined) fail('removals.held, but no more are held');
        else if (moreHeldAt < triedAt(id)) moreHeldAt = undefined;
      }
      if (type === 'data.stale' && !hasData()) fail('data.stale before there was any');
      const isFirst = type === 'data.fresh' ? !sent.stale : type === 'credentials.accepted' && !sent.refused;
      if (isFirst && !mayRepeat) fail(`${type} without its beginning`);
      if (isFirst) mayRepeat = false;
      if (type === 'data.fresh') sent.stale = false;
      if (type === 'credentials.accepted') sent.refused = false;
      wasTold ||= sent.stale || sent.refused;
      isUnsure &&= sent.stale || sent.refused;
    },
  };
}
