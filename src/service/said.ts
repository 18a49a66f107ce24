import { type Clock, formatInstant } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import type { Secrets } from '../secret.ts';
import { visible } from '../visible.ts';
import { type Answer, readMessage, readRetryAfter } from './answer.ts';
import type { Pause } from './pause.ts';

/** What an answer that is a failure says beside its status. */
export type Said = {
  readonly serviceMessage: string | undefined;
  /** Instant (ms) before which the service does not want to be called again. */
  readonly notBefore: number | undefined;
};

export type ListenOptions = { readonly secrets: Secrets; readonly clock: Clock; readonly pause: Pause };

/** Reads what a failure says; a pause that it asks for has begun when this returns. */
export function listen(answer: Answer, body: JsonObject | undefined, { secrets, clock, pause }: ListenOptions): Said {
  const serviceMessage = readMessage(body, secrets.scrub);
  const asked = readRetryAfter(answer, clock.now());
  if (asked === undefined || asked <= clock.now()) return { serviceMessage, notBefore: undefined };
  // Where the head alone has told of the failure, the pause has begun with it.
  if (pause.until() === 0) pause.extend(asked);
  return { serviceMessage, notBefore: pause.until() };
}

/** The service's own words and wishes, for the end of a message. */
export function quoteSaid({ serviceMessage, notBefore }: Said): string {
  const words = serviceMessage === undefined ? '' : ` It says: "${visible(serviceMessage)}".`;
  const wish =
    notBefore === undefined ? '' : ` It asks not to be called before ${formatInstant(notBefore)} (Retry-After).`;
  return words + wish;
}
