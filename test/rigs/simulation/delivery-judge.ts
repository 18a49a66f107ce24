import { isSuccess } from '../../../src/http/response.ts';
import type { World } from './service.ts';

/** Each change once or more, in order and without a gap; a message keeps its id and bytes; no end before its beginning. */
export function createDeliveryJudge(
  fail: (text: string) => void,
  { hasData, isRefusalUntold }: { hasData: () => boolean; isRefusalUntold: (at: number) => boolean },
) {
  const bodies = new Map<string, string>();
  let last = { to: 0, isAccepted: true };
  let moved: number | undefined;
  const sent = { stale: false, refused: false };
  return {
    move: (seq: number): void => {
      moved = seq;
    },
    judge: (delivered: World['delivered'][number] | undefined): void => {
      if (delivered === undefined) return;
      const { id, body, status, at } = delivered;
      const known = bodies.get(id);
      if (known !== undefined && known !== body) fail(`message ${id} has changed`);
      bodies.set(id, body);
      const { type, data } = JSON.parse(body);
      const isAccepted = status !== undefined && isSuccess(status);
      if (type === 'leagues.changed') {
        if (known === undefined) {
          if (!sent.refused && isRefusalUntold(at)) fail('changes were sent before credentials.refused');
          const follows = last.isAccepted && data.from_seq === last.to + 1;
          // A message that was made before the webhook was moved may come after that.
          const isMoved = !follows && data.from_seq === (moved ?? Number.NaN) + 1;
          if (isMoved) moved = undefined;
          else if (!follows) fail(`a gap: ${last.to}, then ${data.from_seq}`);
          last = { to: data.to_seq, isAccepted };
        } else if (data.to_seq === last.to) last = { to: last.to, isAccepted: last.isAccepted || isAccepted };
        return;
      }
      if (known !== undefined) return;
      if (type === 'data.stale' && !hasData()) fail('data.stale before there was any');
      if (type === 'data.fresh' && !sent.stale) fail('data.fresh without data.stale');
      if (type === 'credentials.accepted' && !sent.refused) fail('credentials.accepted without credentials.refused');
      if (type === 'data.stale' || type === 'data.fresh') sent.stale = type === 'data.stale';
      if (type.startsWith('credentials')) sent.refused = type === 'credentials.refused';
    },
  };
}
