import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { DEMO_SECRET } from '../../src/simulator/receiver.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';

type WebhookOptions = {
  readonly id?: string;
  readonly sentAt?: number;
  readonly secrets?: readonly string[];
  readonly body?: string | Buffer;
  /** Replaces headers, or leaves them out if undefined. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
};

export function makeMessage(data: Readonly<Record<string, unknown>> = {}, type = 'leagues.changed'): string {
  return JSON.stringify({ type, timestamp: '2026-11-20T12:00:00.000Z', data });
}

/** Posts a message to the simulated receiver; by default a sound one. `sentAt` is in milliseconds. */
export function sendWebhook({ url }: Pick<Simulator, 'url'>, options: WebhookOptions = {}): Promise<Response> {
  const { id = 'msg_1', sentAt = Date.now(), secrets = [DEMO_SECRET], body = makeMessage(), signal = null } = options;
  const seconds = String(Math.floor(sentAt / 1_000));
  const content = Buffer.from(body);
  const sign = (secret: string) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return createHmac('sha256', key)
      .update(Buffer.concat([Buffer.from(`${id}.${seconds}.`), content]))
      .digest('base64');
  };
  const signatures = secrets.map((secret) => `v1,${sign(secret)}`).join(' ');
  const all = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures, ...options.headers };
  const headers = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined);
  return fetch(`${url}/_webhooks`, { method: 'POST', headers, body: content, signal, redirect: 'manual' });
}

const Shown = z.object({ messages: z.array(z.record(z.string(), z.unknown())) });

/** What the simulated receiver has received. */
export async function readWebhooks({ url }: Pick<Simulator, 'url'>) {
  return Shown.parse(await (await fetch(`${url}/_webhooks`)).json()).messages;
}
