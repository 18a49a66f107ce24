import { type Reply, type Seen, startService } from './service.ts';

/** The secret part of the address, as healthchecks.io hands it out. */
export const CHECK_ID = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

/** A monitoring service on loopback, which ends with the test. */
export type Monitoring = {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  /** Method, path without the check's id, and body of each request, oldest first. */
  readonly told: () => readonly string[];
  /** Sets its response from now on. */
  readonly reply: (next: Reply) => void;
};

export async function startMonitoring(): Promise<Monitoring> {
  const { url, port, requests, script } = await startService({ other: { body: 'OK' } });
  return {
    url: `${url}/${CHECK_ID}`,
    port,
    seen: requests,
    told: () => requests.map(({ method, path, body }) => `${method} ${kindOf(path)} ${body}`.trim()),
    reply: (next) => script('other', next),
  };
}

/** The run id in the request. */
export function runIdOf({ path }: Seen): string | null {
  return new URL(path, 'http://check').searchParams.get('rid');
}

function kindOf(path: string): string {
  return new URL(path, 'http://check').pathname.replace(`/${CHECK_ID}`, '') || '/';
}
