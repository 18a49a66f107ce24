import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/store/queries/feed.ts';
import type { Message } from '../../src/store/tables/webhook.ts';
import { LIMITS, makeChangesMessage, makeMessage } from '../../src/webhook/message.ts';

const AT = '2026-11-20T12:00:00.000Z';
const ABOUT = { source: 'f00d', as_of: '2026-11-20T12:00:01.000Z', stale_at: '2026-11-20T12:17:00.000Z' };
const ORIGIN = { ...ABOUT, madeAt: '2026-11-20T12:00:09.000Z' };

function change(seq: number, after = '{"league_name":"A"}'): Change {
  const kind = 'changed';
  return { seq, run_id: 7, at: AT, league_id: `l${seq}`, league_name: 'Ä', kind, before: '{"priority":1.50}', after };
}

const { limit: MAX_CHANGES, maxChars: MAX_BODY_BYTES } = LIMITS;

function changesFrom(seq: number, after?: string): readonly Change[] {
  return Array.from({ length: MAX_CHANGES }, (_, index) => change(seq + index, after));
}

const rangeOf = (message?: Message) => [message?.message_from_seq, message?.message_to_seq];
const NEXT_TEXT = JSON.stringify({ text: 'ü'.repeat(450) });

describe('a message of changes', () => {
  it('has the changes as they are stored, and the time of the last one', () => {
    const message = makeChangesMessage(ORIGIN, [change(3), { ...change(4), at: '2026-11-20T12:00:01.000Z' }]);
    expect(rangeOf(message)).toEqual([3, 4]);
    expect(message?.message_body).toContain('"before":{"priority":1.50},"after":{"league_name":"A"}');
    const common = {
      run_id: 7,
      league_name: 'Ä',
      kind: 'changed',
      before: { priority: 1.5 },
      after: { league_name: 'A' },
    };
    const changes = [
      { seq: 3, at: AT, league_id: 'l3', ...common },
      { seq: 4, at: '2026-11-20T12:00:01.000Z', league_id: 'l4', ...common },
    ];
    const summary = '2 leagues changed: Ä priority 1.5 → null; Ä priority 1.5 → null.';
    expect(JSON.parse(message?.message_body ?? '')).toEqual({
      type: 'leagues.changed',
      timestamp: '2026-11-20T12:00:01.000Z',
      data: { ...ABOUT, summary, from_seq: 3, to_seq: 4, changes },
    });
  });

  it('has 100 changes if they are small', () => {
    expect(rangeOf(makeChangesMessage(ORIGIN, changesFrom(1)))).toEqual([1, MAX_CHANGES]);
  });

  it('has as many changes as fit into 65,536 bytes', () => {
    const message = makeChangesMessage(ORIGIN, changesFrom(1, NEXT_TEXT));
    const [bytes, changes] = [Buffer.byteLength(message?.message_body ?? ''), message?.message_to_seq ?? 0];
    expect(changes).toBeLessThan(MAX_CHANGES);
    expect(bytes).toBeLessThanOrEqual(MAX_BODY_BYTES);
    expect(bytes * (1 + 1 / changes)).toBeGreaterThan(MAX_BODY_BYTES - 1_600);
  });

  it('has one change that is larger alone', () => {
    const large = JSON.stringify({ text: 'x'.repeat(2 * MAX_BODY_BYTES) });
    expect(rangeOf(makeChangesMessage(ORIGIN, [change(1, large), change(2)]))).toEqual([1, 1]);
    expect(rangeOf(makeChangesMessage(ORIGIN, [change(1), change(2, large), change(3)]))).toEqual([1, 1]);
  });

  it('is none without changes', () => {
    expect(makeChangesMessage(ORIGIN, [])).toBeUndefined();
  });
});

describe('the summary of changes', () => {
  const summaryOf = (...changes: readonly Change[]): unknown =>
    JSON.parse(makeChangesMessage(ORIGIN, changes)?.message_body ?? '').data.summary;
  const STAMPED = '{"priority":1,"last_update_datetime":1}';
  const long = { ...change(4), league_name: '🏟'.repeat(50), before: JSON.stringify({ city: 'x'.repeat(99) }) };

  it.each<[readonly Change[], string]>([
    [[change(1, '{"priority":2}')], '1 league changed: Ä priority 1.50 → 2.'],
    [[{ ...change(1, '{"priority":2}'), before: STAMPED }], '1 league changed: Ä priority 1 → 2.'],
    [[{ ...change(1), kind: 'added', before: null }], '1 league added: Ä.'],
    [
      [
        { ...change(1), kind: 'added', before: null },
        { ...change(2), kind: 'removed', after: null },
      ],
      '1 league added, 1 removed: Ä added; Ä removed.',
    ],
    [
      [1, 2, 3, 4, 4].map((seq) => change(seq, '{"priority":2}')),
      '4 leagues changed: Ä priority 1.50 → 2; Ä priority 1.50 → 2; Ä priority 1.50 → 2 and 2 more.',
    ],
    [[long], `1 league changed: ${'🏟'.repeat(39)}… city ${'x'.repeat(39)}… → null.`],
  ])('says in a sentence what changed (%#)', (changes, summary) => {
    expect(summaryOf(...changes)).toBe(summary.replaceAll('1.50', '1.5'));
  });

  it('has at most 300 characters, also where many fields changed', () => {
    const before = JSON.stringify(
      Object.fromEntries(Array.from({ length: 20 }, (_, field) => [`field_${field}`, field])),
    );
    expect(summaryOf({ ...change(1), before })).toMatch(/^.{299}…$/u);
  });
});

it('a message has a random id without a dot', () => {
  const ids = [1, 2].map(
    () => makeMessage('webhook.test', { ...ORIGIN, source: null }, { summary: 'A test.' }).message_id,
  );
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^msg_[\w-]{24}$/);
});
