import type { Row } from '../../support/database.ts';
import type { List } from './service.ts';

type Hold = { readonly since: string; readonly reason: string };

/** What is in the database after a good poll. */
export type Stored = {
  readonly seq: number;
  readonly live: ReadonlySet<string>;
  /** The name and the priority of each live league. */
  readonly contents: readonly (readonly [string, string])[];
  readonly held: ReadonlyMap<string, Hold>;
  /** Elements that the last good poll rejected, and rejections that are open. */
  readonly rejected: number;
  readonly open: number;
  /** Rows of the drift that the fault `new-field` causes. */
  readonly drift: number;
};

/** A good poll, and what was there before. */
type Poll = {
  readonly outcome: unknown;
  /** That of the answer, and the list that it stands for. */
  readonly status: number | undefined;
  readonly list: List | undefined;
  readonly before: Pick<Stored, 'live' | 'held'>;
  readonly accepted: ReadonlySet<string>;
  readonly removalLimit: number;
};

/** Undefined if there is no database yet. */
export function readStored(row: Row | undefined): Stored {
  const { live, contents, held, ...counts } = row ?? { live: '[]', contents: '[]', held: '[]' };
  const [seq = 0, rejected = 0, open = 0, drift = 0] = [counts.seq, counts.rejected, counts.open, counts.drift].map(
    Number,
  );
  const holds: readonly (readonly [string, string, string])[] = JSON.parse(String(held));
  return {
    ...{ seq, rejected, open, drift },
    live: new Set(JSON.parse(String(live))),
    contents: JSON.parse(String(contents)),
    held: new Map(holds.map(([id, since, reason]) => [id, { since, reason }])),
  };
}

/** Whether a good poll has stored what it was sent, let no more leagues go than it may, and held no fewer. */
export function judgeList(stored: Stored, poll: Poll, report: (text: string) => void): void {
  const { outcome, list, before, accepted, removalLimit } = poll;
  /** Says what is wrong if there is any such league. */
  const none = (ids: Iterable<string>, text: string): void => {
    const found = [...ids];
    if (found.length > 0) report(`${text}: ${found}`);
  };
  const gone = [...before.live].filter((id) => !stored.live.has(id) && !accepted.has(id));
  if (gone.length > 5 && gone.length > before.live.size * removalLimit) report(`the guard let ${gone.length} go`);
  if (list === undefined) return;
  const { contents, hasBadRows } = list;
  const listed = new Set(list.ids);
  if (outcome !== 'held') {
    none(stored.live.difference(listed), 'not in the answer, but live');
    none(
      [...before.live].filter((id) => listed.has(id) && !stored.live.has(id)),
      'sent, but no longer live',
    );
  }
  none(
    [...stored.held.keys()].filter((id) => listed.has(id)),
    'listed, but still held',
  );
  const moved = [...stored.held].filter(([id, { since }]) => (before.held.get(id)?.since ?? since) !== since);
  none(
    moved.map(([id]) => id),
    'held since another time than before',
  );
  if (poll.status === 200 && stored.rejected !== stored.open)
    report(`${stored.rejected} rejected, but ${stored.open} open`);
  if (list.hasNewField && stored.drift === 0) report('a new field is no drift');
  if (hasBadRows) return;
  if (outcome !== 'held') {
    none(listed.difference(stored.live), 'in the answer, but not live');
    const differing = stored.contents.filter(([id, content]) => contents.get(id) !== content);
    none(differing.map(String), 'stored otherwise than sent');
  }
  const missing = [...before.live].filter((id) => !listed.has(id) && !accepted.has(id));
  const counted = [...before.live].filter((id) => listed.has(id) || !accepted.has(id)).length;
  // While removals are held, leagues that join do not count.
  const isTooMany = missing.length > 5 && (before.held.size > 0 || missing.length > counted * removalLimit);
  if (outcome === 'held' && listed.size > 0 && !isTooMany) report(`held, though only ${missing.length} are missing`);
  const isHeld = (id: string): boolean => outcome === 'held' && missing.includes(id);
  none(
    [...stored.held.keys()].filter((id) => !accepted.has(id) && !isHeld(id)),
    'held without a reason',
  );
  if (outcome === 'held')
    none(
      missing.filter((id) => !stored.held.has(id)),
      'missing, but not held',
    );
  const why = listed.size === 0 ? 'empty-list' : 'limit';
  const added = [...stored.held].filter(([id, { reason }]) => !before.held.has(id) && reason !== why);
  none(
    added.map(([id, { reason }]) => `${id} (${reason})`),
    `held for another reason than ${why}`,
  );
}
