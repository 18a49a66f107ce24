import { html } from 'hono/html';
import type { Html } from './html.ts';

// Faces of leagues and sports without any image of somebody else: letters on a colour, and glyphs drawn for this page.

/** Each is drawn in lines on 16 by 16 points. */
const GLYPHS: Readonly<Record<string, string>> = {
  'aussie rules': 'M3 8a5 3.6 0 0 0 10 0a5 3.6 0 0 0-10 0M6 8h4M7 7v2M9 7v2',
  baseball: 'M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M4.2 3.6c2 2.6 2 6.2 0 8.8M11.8 3.6c-2 2.6-2 6.2 0 8.8',
  basketball:
    'M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M2 8h12M8 2v12M3.8 3.8c2.6 2.2 2.6 6.2 0 8.4M12.2 3.8c-2.6 2.2-2.6 6.2 0 8.4',
  boxing: 'M4 14v-3.5c-1.5-1-2-2.5-2-4C2 4 4 2.5 7 2.5h3c2.5 0 4 1.5 4 4s-1.5 3.5-3 4V14zM4 11.5h7M6 6.5h4',
  cricket: 'M10.5 2l3.5 3.5-6.5 6.5L4 8.5zM5.7 10.3L2 14M11 13a1 1 0 1 0 2 0a1 1 0 1 0-2 0',
  esports:
    'M5 5h6c2 0 3 2 3 5c0 2-1.5 2.5-2.5 1L10.5 10h-5l-1 1c-1 1.5-2.5 1-2.5-1c0-3 1-5 3-5M5 6.5v2M4 7.5h2M11 7.5h.01',
  football: 'M2.5 13.5c-1-6 4.5-12 11-11c1 6-4.5 12-11 11M6 10l4-4M6.8 7.6l1.6 1.6M8.2 6.2l1.6 1.6',
  golf: 'M6 14V2l6 2.8L6 7.6M3 14h7',
  hockey: 'M13.5 2L9 11.5c-.5 1-1 1.5-2 1.5H2.5v-2H6.5L11.5 2M11 13.5h3',
  'horse racing': 'M5 14v-4L3 8l1-3.5L8 2l1 1.5c3 .5 4.5 3 4.5 6V14M4.5 8l3-.5M8.5 5.5h.01',
  lacrosse: 'M2 14l6-6M8 8c-1.5-3 .5-6 5.5-6c0 5-3 7-5.5 6M10 4.5l2 2M8.8 6l1.5 1.5',
  mma: 'M8 2l5.2 3v6L8 14l-5.2-3V5zM8 5l2.6 1.5v3L8 11L5.4 9.5v-3z',
  motorsport: 'M3 14V2.5h10v7H3M3 6h10M6.3 2.5v7M9.7 2.5v7',
  'rugby league': 'M2 8c3-5.3 9-5.3 12 0c-3 5.3-9 5.3-12 0M5 5v6M11 5v6M5 8h6',
  'rugby union': 'M2 8c3-5.3 9-5.3 12 0c-3 5.3-9 5.3-12 0M8 4v8M5.5 8h5',
  soccer:
    'M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M8 5.3l2.5 1.9l-1 3h-3l-1-3zM8 2v3.3M13.7 6.2l-3.2 1M11.5 12.9l-2-2.7M4.5 12.9l2-2.7M2.3 6.2l3.2 1',
  tennis: 'M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0M3.5 4c4 1 4 7 0 8M12.5 4c-4 1-4 7 0 8',
};

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
