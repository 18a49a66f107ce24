import type { IncomingHttpHeaders } from 'node:http';
import { eventually } from './program.ts';
import { type Reply, startService } from './service.ts';

/** A message as it arrived. */
export type Delivered = {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what a message of its type holds
  readonly data: any;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
};

/** A number is a status. */
export type Answer = Reply | number;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export const SECRET = `whsec_${Buffer.from('a secret of scripted receivers').toString('base64')}`;

/** Starts a receiver of webhooks on loopback, which ends with the test. It accepts everything unless told otherwise. */
export async function startReceiver(...replies: readonly Answer[]) {
  const service = await startService();
  /** Sets the responses to the next requests; the last one repeats. */
  const script = (...next: readonly Answer[]): void =>
    service.script('other', ...next.map((reply) => (typeof reply === 'number' ? { status: reply } : reply)));
  script(...(replies.length === 0 ? [204] : replies));
  const url = `${service.url}/path-of-scripted-receivers?token=query-of-scripted-receivers`;
  /** Those whose body has arrived. */
  const delivered = (): readonly Delivered[] =>
    service.requests
      .filter(({ body }) => body !== '')
      .map(({ headers, body, path }) => ({
        id: String(headers['webhook-id']),
        body,
        headers,
        path,
        ...JSON.parse(body),
      }));
  return {
    /** With a path and a query that are secrets. */
    url,
    /** Every attempt, oldest first. */
    get seen(): readonly Delivered[] {
      return delivered();
    },
    /** The type of each attempt and, of changes, their bounds: `leagues.changed 1-100`. */
    told: (): readonly string[] =>
      delivered().map(({ type, data }) =>
        data.from_seq === undefined ? type : `${type} ${data.from_seq}-${data.to_seq}`,
      ),
    script,
    /** Resolves with the attempts, when there are that many. */
    waitFor: (count: number) =>
      eventually(`${count} messages arrive`, () => delivered().length >= count && delivered()),
    /** The settings of a worker that sends to it. */
    env: { LEAGUE_SYNC_WEBHOOK_URL: url, LEAGUE_SYNC_WEBHOOK_SECRET: SECRET },
  };
}
