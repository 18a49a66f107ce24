import type { Attention } from '../store/queries/overview.ts';
import type { Announced, StoredStates, WebhookRow } from '../store/tables/webhook.ts';

/** A change of one of the states that receivers are told about. */
export type StateChange =
  | 'data.stale'
  | 'data.fresh'
  | 'removals.held'
  | 'credentials.refused'
  | 'credentials.accepted';

/** What receivers are told about. */
export type States = ReturnType<typeof toStates>;

const IS_REFUSED = { ok: false, refused: true, failed: undefined };

/** `isRefused` is undefined if the last login says nothing about the credentials. */
export function toStates(stored: StoredStates, isStale: boolean) {
  return { ...stored, isStale, isRefused: IS_REFUSED[stored.last_login ?? 'failed'] };
}

/** At a first start and at a `skip`, what holds counts as told (null); its end is then not told either. */
export function passOver({ isStale, isRefused, held_since }: States, told?: Announced): Announced {
  const pass = (holds: boolean, was: boolean | null | undefined) => (holds ? (was === true ? true : null) : false);
  return {
    announced_stale: pass(isStale, told?.announced_stale),
    // If the last login says nothing, what was told still holds.
    announced_refused:
      isRefused === undefined && told !== undefined
        ? told.announced_refused
        : pass(isRefused === true, told?.announced_refused),
    announced_held_since: held_since,
  };
}

/** A state that was passed over (null) and has ended is told if it begins again. */
export function forgetEnded({ isStale, isRefused }: States, told: Announced): Partial<Announced> {
  return {
    ...(told.announced_stale === null && !isStale && { announced_stale: false }),
    ...(told.announced_refused === null && isRefused === false && { announced_refused: false }),
  };
}

/** The first state to tell; undefined if there is none. An end is told only of what was told. */
export function findUnannounced({ isStale, isRefused, held_since }: States, told: Announced): StateChange | undefined {
  if (told.announced_stale === !isStale) return isStale ? 'data.stale' : 'data.fresh';
  if (held_since !== null && held_since > (told.announced_held_since ?? '')) return 'removals.held';
  if (isRefused === undefined || told.announced_refused !== !isRefused) return undefined;
  return isRefused ? 'credentials.refused' : 'credentials.accepted';
}

type InFlight = Pick<WebhookRow, 'message_type' | 'message_held_since'>;

/** What the receiver has been told once the message in flight was sent, accepted or not. */
export function announcedBy({ message_type, message_held_since }: InFlight): Partial<Announced> {
  switch (message_type as StateChange | 'leagues.changed' | null) {
    case 'data.stale':
    case 'data.fresh':
      return { announced_stale: message_type === 'data.stale' };
    case 'removals.held':
      return { announced_held_since: message_held_since };
    case 'credentials.refused':
    case 'credentials.accepted':
      return { announced_refused: message_type === 'credentials.refused' };
    default:
      return {};
  }
}

/** Whether the message in flight tells a state that has changed back. */
export function isOutdated(message: InFlight, { isStale, isRefused, held_since }: States): boolean {
  const { announced_stale, announced_refused, announced_held_since } = announcedBy(message);
  if (announced_stale !== undefined) return announced_stale !== isStale;
  if (announced_refused !== undefined) return isRefused === !announced_refused;
  return (held_since ?? '') < (announced_held_since ?? '');
}

type News = Pick<Attention, 'since' | 'summary' | 'what_to_do'>;

const ATTENTION: Readonly<Partial<Record<StateChange, Attention['what']>>> = {
  'data.stale': 'stale',
  'removals.held': 'held-removals',
  'credentials.refused': 'credentials-refused',
};
const NOTHING_TO_DO = 'Nothing needs to be done.';

/** Says what the view `attention` says, where it says something. */
export function describeChange(change: StateChange, attention: readonly Attention[], states: States): News {
  const row = attention.find(({ what }) => what === ATTENTION[change]);
  if (row !== undefined) return { since: row.since, summary: row.summary, what_to_do: row.what_to_do };
  if (change === 'data.fresh')
    return { since: states.last_success_at, summary: 'The leagues are up to date again.', what_to_do: NOTHING_TO_DO };
  if (change === 'credentials.accepted') {
    const summary = 'The service accepts the credentials again.';
    return { since: states.last_login_at, summary, what_to_do: NOTHING_TO_DO };
  }
  // Stale by the time that has passed, but not in the view: the machine's clock was set back.
  const summary = 'No poll of the leagues has succeeded in time, by the time that has passed.';
  return { since: null, summary, what_to_do: 'See league-sync status, and check the clock of this machine.' };
}
