/** A secret as it is, in JSON, and in a URL. */
export function plainSpellingsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, escaped.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}

/** In each form of base64, without padding, so that padded ones match, too. */
export function encodedSpellingsOf(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [base64, Buffer.from(secret).toString('base64url'), encodeURIComponent(base64)];
}

/** The bytes of a secret as Node prints a buffer: in hex, and as numbers in JSON. */
function shownSpellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  return [hex, hex.replace(/..(?=.)/g, '$& '), bytes.join(',')];
}

/** All encodings of a secret. */
export function spellingsOf(secret: string): readonly string[] {
  const all = [...plainSpellingsOf(secret), ...encodedSpellingsOf(secret), ...shownSpellingsOf(secret)];
  return [...new Set(all)];
}
