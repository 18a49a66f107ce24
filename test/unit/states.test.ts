import { describe, expect, it } from 'vitest';
import type { Announced, StoredStates } from '../../src/store/tables/webhook.ts';
import {
  announcedBy,
  describeChange,
  findUnannounced,
  forgetEnded,
  isOutdated,
  passOver,
  toStates,
} from '../../src/webhook/states.ts';

const FRESH: StoredStates = {
  last_success_at: '2026-11-20T11:59:00.000Z',
  stale_at: null,
  held_since: null,
  last_login_at: '2026-11-20T11:58:00.000Z',
  last_login: 'ok',
};
const STALE = { isStale: true };
const NOTHING_TOLD: Announced = { announced_stale: false, announced_refused: false, announced_held_since: null };

type Known = Partial<StoredStates & { readonly isStale: boolean }>;

const statesOf = ({ isStale = false, ...stored }: Known) => toStates({ ...FRESH, ...stored }, isStale);

describe('what a receiver has not been told', () => {
  it.each<[string | undefined, Known, Partial<Announced>]>([
    [undefined, {}, {}],
    ['data.stale', STALE, {}],
    [undefined, STALE, { announced_stale: true }],
    ['data.fresh', {}, { announced_stale: true }],
    ['removals.held', { held_since: 'b' }, {}],
    ['removals.held', { held_since: 'b' }, { announced_held_since: 'a' }],
    [undefined, { held_since: 'a' }, { announced_held_since: 'a' }],
    // Older removals are still held, and newer ones of which it was told are not any more.
    [undefined, { held_since: 'a' }, { announced_held_since: 'b' }],
    [undefined, {}, { announced_held_since: 'b' }],
    ['credentials.refused', { last_login: 'refused' }, {}],
    [undefined, { last_login: 'refused' }, { announced_refused: true }],
    ['credentials.accepted', { last_login: 'ok' }, { announced_refused: true }],
    // A login that failed says nothing about the credentials, nor does the absence of logins.
    [undefined, { last_login: 'failed' }, { announced_refused: true }],
    [undefined, { last_login: null }, { announced_refused: true }],
    [undefined, { last_login: 'failed' }, {}],
  ])('is %s for %j after %j', (expected, stored, told) => {
    expect(findUnannounced(statesOf(stored), { ...NOTHING_TOLD, ...told })).toBe(expected);
  });

  it('is nothing of what holds at the first start', () => {
    const states = statesOf({ ...STALE, held_since: 'b', last_login: 'refused' });
    expect(findUnannounced(states, passOver(states))).toBeUndefined();
  });

  it('is nothing of the end of a state that was not told, which is told if it comes again', () => {
    const passed = passOver(statesOf({ ...STALE, last_login: 'refused' }));
    expect(findUnannounced(statesOf({}), passed)).toBeUndefined();
    expect(forgetEnded(statesOf({}), passed)).toEqual({ announced_stale: false, announced_refused: false });
    expect(forgetEnded(statesOf({ ...STALE, last_login: 'failed' }), passed)).toEqual({});
  });

  it('is what was told before, also where that is passed over or another state ends', () => {
    const told = { ...NOTHING_TOLD, announced_stale: true };
    expect(passOver(statesOf(STALE), told)).toMatchObject({ announced_stale: true });
    const refused = { ...NOTHING_TOLD, announced_refused: true };
    expect(passOver(statesOf({ last_login: 'failed' }), refused)).toEqual(refused);
    expect(forgetEnded(statesOf({}), { ...told, announced_refused: null })).toEqual({ announced_refused: false });
  });
});

describe('a message in flight', () => {
  it.each<[string, Known, boolean]>([
    ['data.stale', STALE, false],
    ['data.stale', {}, true],
    ['data.fresh', {}, false],
    ['data.fresh', STALE, true],
    ['removals.held', { held_since: 'b' }, false],
    ['removals.held', { held_since: 'c' }, false],
    ['removals.held', { held_since: 'a' }, true],
    ['removals.held', {}, true],
    ['credentials.refused', { last_login: 'refused' }, false],
    ['credentials.refused', { last_login: 'failed' }, false],
    ['credentials.refused', {}, true],
    ['credentials.accepted', {}, false],
    ['credentials.accepted', { last_login: 'refused' }, true],
    ['leagues.changed', STALE, false],
  ])('of type %s, if the database says %j, is outdated: %s', (message_type, stored, expected) => {
    expect(isOutdated({ message_type, message_held_since: 'b' }, statesOf(stored))).toBe(expected);
  });

  it.each([
    ['data.stale', { announced_stale: true }],
    ['data.fresh', { announced_stale: false }],
    ['removals.held', { announced_held_since: 'b' }],
    ['credentials.refused', { announced_refused: true }],
    ['credentials.accepted', { announced_refused: false }],
    ['leagues.changed', {}],
  ])('of type %s tells %j', (message_type, told) => {
    expect(announcedBy({ message_type, message_held_since: 'b' })).toEqual(told);
  });
});

describe('the words of a state', () => {
  const row = { since: 'a', what: 'stale', count: null, summary: 'It is stale.', what_to_do: 'Start it.' } as const;

  it('are those of attention', () => {
    expect(describeChange('data.stale', [row], statesOf({}))).toEqual({
      since: 'a',
      summary: 'It is stale.',
      what_to_do: 'Start it.',
    });
  });

  it('point to the clock if attention knows nothing, since only the monotonic clock says that it is stale', () => {
    const { since, summary, what_to_do } = describeChange('data.stale', [], statesOf({}));
    expect([since, summary]).toEqual([null, expect.stringMatching(/^No poll of the leagues has succeeded in time/)]);
    expect(what_to_do).toMatch(/check the clock of this machine/);
  });

  it('say since when it is good again', () => {
    expect(describeChange('data.fresh', [], statesOf({})).since).toBe(FRESH.last_success_at);
    expect(describeChange('credentials.accepted', [row], statesOf({})).since).toBe(FRESH.last_login_at);
  });
});
