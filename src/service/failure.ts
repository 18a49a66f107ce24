import { formatInstant } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import type { Secrets } from '../redact.ts';
import { visible } from '../terminal/style.ts';
import { type Answer, readMessage } from './answer.ts';
import type { Pause } from './pause.ts';

/** What a failed answer says beside its status. */
export type FailureWords = {
  readonly serviceMessage: string | undefined;
  /** Instant (ms) before which the service does not want to be called again. */
  readonly notBefore: number | undefined;
};

/** Reads what a failed answer says. A pause that it asks for has begun when this returns, whatever its status is. */
export function heed(
  answer: Answer,
  body: JsonObject | undefined,
  { secrets, pause }: { readonly secrets: Secrets; readonly pause: Pause },
): FailureWords {
  const serviceMessage = readMessage(body, secrets.scrub);
  if (answer.notBefore === undefined) return { serviceMessage, notBefore: undefined };
  pause.extend(answer.notBefore);
  const until = pause.until();
  return { serviceMessage, notBefore: until === 0 ? undefined : until };
}

/** The service's own words and wishes, for the end of a message. */
export function quote({ serviceMessage, notBefore }: FailureWords): string {
  const words = serviceMessage === undefined ? '' : ` It says: "${visible(serviceMessage)}".`;
  const wish =
    notBefore === undefined ? '' : ` It asks not to be called before ${formatInstant(notBefore)} (Retry-After).`;
  return words + wish;
}
