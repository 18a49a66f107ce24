import { type Reply, type Seen, startService } from './service.ts';

/** The secret part of the address, as healthchecks.io hands it out. */
export const CHECK_ID = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

export type Monitoring = Awaited<ReturnType<typeof startMonitoring>>;

/** A monitoring service on loopback, which ends with the test. */
export async function startMonitoring() {
  const { url, port, requests, script } = await startService({ other: { body: 'OK' } });
  return {
    url: `${url}/${CHECK_ID}`,
    port,
    seen: requests,
    /** Method, path without the check's id, and body of each request, oldest first. */
    told: (): readonly string[] => requests.map(({ method, path, body }) => `${method} ${kindOf(path)} ${body}`.trim()),
    /** Sets its response from now on. */
    reply: (next: Reply): void => script('other', next),
  };
}

/** The run id in the request. */
export function runIdOf({ path }: Seen): string | null {
  return new URL(path, 'http://check').searchParams.get('rid');
}

function kindOf(path: string): string {
  return new URL(path, 'http://check').pathname.replace(`/${CHECK_ID}`, '') || '/';
}
