import type { HttpResponse } from '../../src/service/response.ts';

/** A response of the transport. */
export function createAnswer(
  body: string | Uint8Array = '{}',
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): HttpResponse {
  return {
    status,
    header: (name) => headers[name],
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}
