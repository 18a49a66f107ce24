import { html } from 'hono/html';
import { formatInstant } from '../../clock.ts';
import { formatAge } from '../../duration.ts';

/** A piece of the page: text in it is escaped already. */
export type Html = ReturnType<typeof html>;

/** A whole number with its thousands apart. Not by Intl, whose first use takes 8 MB for good. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 league`, `2 leagues`. */
export function countOf(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** An instant (ms, or as it is stored) by its distance from now, with the instant itself beside it for whoever points at it. */
export function when(instant: number | string, now: number): Html {
  const at = typeof instant === 'number' ? instant : Date.parse(instant);
  const iso = formatInstant(at);
  return html`<time datetime="${iso}" title="${iso}">${formatAge(now - at)}</time>`;
}

/** Text of unknown length and direction: cut, and kept from turning round what stands beside it. */
export function foreign(text: string, length = text.length): Html {
  const rest = length - text.length;
  return html`<bdi>${text}</bdi>${rest > 0 ? html`<span class="cut">… ${countOf(rest, 'more character')}</span>` : ''}`;
}

/** Longer ones do not fit into a request. */
const LONGEST_LINKED_ID = 2_000;

/** A link to the page of a league. By query, since an id may hold what a path cannot. */
export function linkToLeague(leagueId: string, name: string | null): Html {
  const label = foreign(name || leagueId.slice(0, LONGEST_LINKED_ID));
  if (leagueId.length > LONGEST_LINKED_ID) return label;
  return html`<a href="/league?${new URLSearchParams({ id: leagueId }).toString()}">${label}</a>`;
}
