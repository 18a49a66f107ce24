export type Credentials = { readonly username: string; readonly password: string };

export type BasicCheck = 'accepted' | 'refused' | 'missing';

/** The token of a Bearer header, where the header is one. */
export function readBearer(header: string | undefined): string | undefined {
  return readScheme(header, 'bearer');
}

/** Whether an Authorization header carries the Basic pair of these credentials (section 5 of the interface). */
export function checkBasic(header: string | undefined, credentials: Credentials): BasicCheck {
  const pair = readScheme(header, 'basic');
  if (pair === undefined) return 'missing';
  const expected = `${credentials.username}:${credentials.password}`;
  return Buffer.from(pair, 'base64').toString() === expected ? 'accepted' : 'refused';
}

function readScheme(header: string | undefined, scheme: string): string | undefined {
  const [name, value] = header?.trim().split(/ +/, 2) ?? [];
  return name?.toLowerCase() === scheme ? value : undefined;
}
