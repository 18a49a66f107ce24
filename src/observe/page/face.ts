import { html } from 'hono/html';
import glyphs from './glyphs.json' with { type: 'json' };
import type { Html } from './html.ts';

// Faces of leagues and sports without any image from other hosts: letters on a colour, and glyphs drawn for this page.

/** Each is drawn in lines on 16 by 16 points. */
const GLYPHS: Readonly<Record<string, string>> = glyphs;

/** The glyph of a sport; an empty place of its size for a sport without one. */
export function glyphOf(sport: string): Html {
  const path = Object.hasOwn(GLYPHS, sport) ? GLYPHS[sport] : '';
  return html`<svg class="sport" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${path}"/></svg>`;
}

/** A square in a colour that the id decides, with the first letters of the name. Beside the name, it says nothing new. */
export function monogram(leagueId: string, name: string, size = 24): Html {
  let sum = 0;
  for (const letter of leagueId.slice(0, 100)) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  const letters = lettersOf(name);
  const width = letters.length > 2 ? 12 : 15;
  return html`<svg class="face" viewBox="0 0 40 40" width="${size}" height="${size}" aria-hidden="true"><rect width="40" height="40" rx="9" fill="hsl(${sum},45%,30%)"/><text x="20" y="25" font-size="${width}" text-anchor="middle">${letters}</text></svg>`;
}

/** Such as `NFL` of NFL, `EPL` of English Premier League and `Bu` of Bundesliga. */
export function lettersOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'\u2019]*/gu) ?? [];
  const [first = ''] = words;
  if (words.length > 1)
    return words
      .slice(0, 3)
      .map((word) => [...word][0]?.toUpperCase() ?? '')
      .join('');
  return [...first].slice(0, first === first.toUpperCase() ? 3 : 2).join('');
}
