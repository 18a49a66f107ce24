import { html } from 'hono/html';
import { formatInstant } from '../../clock.ts';
import { formatAge } from '../../duration.ts';

const SECOND_MS = 1_000;

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

type Instant = number | string;

/** The words of an element that the page's script keeps true while time passes (`AGES`). */
export type AgeForm = 'ago' | 'old' | 'until';

/** Something past (ms, or as it is stored) by its distance from now, with the instant itself for whoever points at it. */
export function when(instant: Instant, now: number): Html {
  return age('ago', instant, now);
}

/** Something that is to come, by its distance from now. */
export function until(instant: Instant, now: number): Html {
  return age('until', instant, now);
}

/** How old something is that is as of this instant. */
export function old(instant: Instant, now: number): Html {
  return age('old', instant, now);
}

/** An age in words, as the script words it too. What is past and seems to come was noted by a clock that was ahead. */
export function wordAge(form: AgeForm, at: number, now: number): string {
  const words = formatAge(now - at);
  if (form === 'until') return at - now < SECOND_MS ? 'now' : words;
  if (at - now >= SECOND_MS) return timeOfDay(at, now);
  return form === 'old' ? words.replace(/ ago$/, ' old') : words;
}

function age(form: AgeForm, instant: Instant, now: number): Html {
  const at = msOf(instant);
  const iso = formatInstant(at);
  return html`<time datetime="${iso}" title="${iso}" data-age="${form}">${wordAge(form, at, now)}</time>`;
}

/** The time of day, `18:43:15 UTC`; of another day, with its date. */
export function timeOfDay(instant: Instant, now: number): string {
  const [day, time] = partsOf(msOf(instant));
  return day === partsOf(now)[0] ? `${time} UTC` : `${day} ${time} UTC`;
}

function partsOf(at: number): readonly [string, string] {
  const iso = formatInstant(at);
  return [iso.slice(0, 10), iso.slice(11, 19)];
}

function msOf(instant: Instant): number {
  return typeof instant === 'number' ? instant : Date.parse(instant);
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
