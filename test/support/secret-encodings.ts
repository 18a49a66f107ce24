/** A secret as it is, in JSON, and in a URL. */
export function plainSpellingsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, escaped.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}

/** In base64 of each kind; without the padding, so that it is found with it, too. */
export function encodedSpellingsOf(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [base64, Buffer.from(secret).toString('base64url'), encodeURIComponent(base64)];
}

/** Its bytes as Node shows those of a buffer: in hex, and as numbers in JSON. */
function shownSpellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  return [hex, hex.replace(/..(?=.)/g, '$& '), bytes.join(',')];
}

/** Every way in which a secret may be written down. */
export function spellingsOf(secret: string): readonly string[] {
  const all = [...plainSpellingsOf(secret), ...encodedSpellingsOf(secret), ...shownSpellingsOf(secret)];
  return [...new Set(all)];
}
