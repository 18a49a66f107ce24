import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Called with every secret that is sent or received, and its kind. */
type Listener = {
  readonly onToken: (name: string, token: string) => void;
  readonly onCredential: (name: string, secret: string) => void;
};

/** The maximum size of a login response. */
const LONGEST_LOGIN = 65_536;
const ISSUED = /"(access_token|refresh_token)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/**
 * Captures the secrets of all HTTP servers in this process: the `Authorization` of requests, and the tokens in login
 * responses, used or not.
 */
export function tapServers(hear: Listener): void {
  subscribe('http.server.response.created', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    hearAuthorization(request.headers.authorization ?? '', hear);
    if (request.method === 'POST') tapBody(response, hear);
  });
}

function hearAuthorization(header: string, hear: Listener): void {
  const [scheme, sent = ''] = header.split(' ', 2);
  if (scheme === 'Bearer') hear.onToken('a token that was sent', sent);
  if (scheme !== 'Basic') return;
  const pair = Buffer.from(sent, 'base64').toString();
  hear.onCredential('a Basic pair that was sent', pair);
  hear.onCredential('a password that was sent', pair.slice(pair.indexOf(':') + 1));
}

/** Reads the body without changing the response. */
function tapBody(response: ServerResponse, hear: Listener): void {
  let said = '';
  for (const name of ['write', 'end'] as const) {
    const send = response[name];
    response[name] = (...args: unknown[]) => {
      if (said.length < LONGEST_LOGIN && (typeof args[0] === 'string' || args[0] instanceof Uint8Array)) {
        said += Buffer.from(args[0] as string).toString();
        for (const [, field = '', text = ''] of said.matchAll(ISSUED))
          hear.onToken(`an ${field}`, String(JSON.parse(text)));
      }
      return Reflect.apply(send, response, args);
    };
  }
}
