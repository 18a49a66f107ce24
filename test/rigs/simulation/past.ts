import type { Request, World } from './service.ts';

/** The longest step of a clock, and a pause. */
const LONGEST_DOUBT_MS = 42 * 3_600_000;
/** For how long a kill may lose what an answer has brought. */
const LOST_MS = 60_000;

export type Past = ReturnType<typeof createPast>;

/** What has happened around the worker so far, in elapsed ms. */
export function createPast({ requests }: Pick<World, 'requests'>) {
  const [persons, steps, kills] = [[] as number[], [] as number[], [] as number[]];
  const hasStepped = (since: number): boolean => steps.some((time) => time >= since);
  const hadPerson = (since: number): boolean => persons.some((time) => time >= since);
  const past = {
    /** When a person did something or a life began, the clock stepped, and the worker was killed. */
    ...{ persons, steps, kills },
    lifeBegan: 0,
    /** When a fault last denied access, or the password was changed. */
    deniedAt: 0,
    /** When the database could not be written for a while, or may not be. */
    troubleAt: 0,
    movedAt: Number.NEGATIVE_INFINITY,
    restoredAt: Number.NEGATIVE_INFINITY,
    hasStepped,
    hadPerson,
    /** Whether anything happened that may have changed when something is sent. */
    isDisturbed: (since: number): boolean => past.troubleAt >= since || hadPerson(since) || hasStepped(since),
    /** Whether a kill came too soon for the answer to be stored. */
    isLost: (at: number): boolean => kills.some((time) => time >= at && time < at + LOST_MS),
    /** After a step of the clock, a worker that starts does not know how much of a pause is left. */
    mayBePaused: (since: number): boolean =>
      requests.some(
        ({ at, pauseUntil = 0 }) =>
          pauseUntil > since || (pauseUntil > 0 && at > since - LONGEST_DOUBT_MS && hasStepped(at)),
      ),
  };
  return past;
}

/** Whether an answer means that another attempt may succeed. */
export function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** Whether the service rejected a token or a login. */
export function isRejection({ status = 503, isFailure }: Request): boolean {
  return status === 401 || status === 403 || (isFailure === true && !mayPass(status));
}
