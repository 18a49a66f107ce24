import { createServer } from 'node:http';
import { openPort } from './port.ts';
import { type Reply, type SeenRequest, send } from './scripted-service.ts';

/** The secret part of the address, as healthchecks.io hands it out. */
export const CHECK_ID = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

/** A monitoring service on loopback, which ends with the test. */
export type Monitoring = {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  /** Method, path without the check's id, and body of each request, oldest first. */
  readonly told: () => readonly string[];
  /** Sets its response from now on. */
  readonly reply: (next: Reply) => void;
};

export async function startMonitoring(): Promise<Monitoring> {
  const seen: SeenRequest[] = [];
  let reply: Reply = { body: 'OK' };
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    seen.push({ method, path: url, headers, body: Buffer.concat(chunks).toString(), at: performance.now() });
    send(response, reply);
  });
  const { port } = await openPort(server);
  return {
    url: `http://127.0.0.1:${port}/${CHECK_ID}`,
    port,
    seen,
    told: () => seen.map(({ method, path, body }) => `${method} ${kindOf(path)} ${body}`.trim()),
    reply: (next) => {
      reply = next;
    },
  };
}

/** The run id in the request. */
export function runIdOf({ path }: SeenRequest): string | null {
  return new URL(path, 'http://check').searchParams.get('rid');
}

function kindOf(path: string): string {
  return new URL(path, 'http://check').pathname.replace(`/${CHECK_ID}`, '') || '/';
}
