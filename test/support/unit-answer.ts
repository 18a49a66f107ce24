import type { ServiceResponse } from '../../src/service/connection.ts';

/** A response of the transport. */
export function createAnswer(
  body: string | Uint8Array = '{}',
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): ServiceResponse {
  return {
    url: 'https://api.example.com/x',
    status,
    header: (name) => headers[name],
    via: '',
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}
