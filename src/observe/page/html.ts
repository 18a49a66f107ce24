import { html } from 'hono/html';
import { formatInstant } from '../../clock.ts';
import { formatAge } from '../../duration.ts';

const SECOND_MS = 1_000;
/** Longer ones do not fit into a request. */
const LONGEST_LINKED_ID = 2_000;

/** A piece of the page: text in it is escaped already. */
export type Html = ReturnType<typeof html>;

/** The words of an element that the page's script keeps true while time passes (`AGES`). */
export type AgeForm = 'ago' | 'old' | 'until';

/** A whole number with its thousands apart. Not by Intl, whose first use takes 8 MB for good. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 league`, `2 leagues`. */
export function countOf(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** An instant (ms, or as it is stored) by its distance from now, with the instant itself as the tooltip. */
export function when(instant: number | string, now: number, form: AgeForm = 'ago'): Html {
  const at = typeof instant === 'number' ? instant : Date.parse(instant);
  const iso = formatInstant(at);
  return html`<time datetime="${iso}" title="${iso}" data-age="${form}">${wordAge(form, at, now)}</time>`;
}

/** An age in words, as the script words it too. What is past and seems to come was noted by a clock that was ahead. */
export function wordAge(form: AgeForm, at: number, now: number): string {
  const words = formatAge(now - at);
  if (form === 'until') return at - now < SECOND_MS ? 'now' : words;
  if (at - now >= SECOND_MS) return timeOfDay(at, now);
  return form === 'old' ? words.replace(/ ago$/, ' old') : words;
}

/** The time of day, `18:43:15 UTC`; of another day, with its date. */
export function timeOfDay(at: number, now: number): string {
  const [day, time] = [formatInstant(at).slice(0, 10), formatInstant(at).slice(11, 19)];
  return formatInstant(now).startsWith(day) ? `${time} UTC` : `${day} ${time} UTC`;
}

/** Text of unknown length and direction: cut, and kept from turning round what stands beside it. */
export function bdi(text: string, length = text.length): Html {
  const rest = length - text.length;
  return html`<bdi>${text}</bdi>${rest > 0 ? html`<span class="cut">… ${countOf(rest, 'more character')}</span>` : ''}`;
}

/** A link to the page of a league. By query, since an id may hold what a path cannot. */
export function linkToLeague(leagueId: string, name: string | null): Html {
  const label = bdi(name || leagueId.slice(0, LONGEST_LINKED_ID));
  if (leagueId.length > LONGEST_LINKED_ID) return label;
  return html`<a href="/league?${new URLSearchParams({ id: leagueId }).toString()}">${label}</a>`;
}
