import { html } from 'hono/html';
import { formatTimestamp } from '../../time/clock.ts';
import { formatAge } from '../../time/duration.ts';

const SECOND_MS = 1_000;
/** Longer ids may not fit into the URL of a request. */
const MAX_LINKED_ID_LENGTH = 2_000;

/** Escaped HTML. */
export type Html = ReturnType<typeof html>;

type AgeForm = 'ago' | 'old' | 'until';

/** Formats a number as `12,345`, without the memory that Intl's number formats take. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

export function countOf(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** Renders a timestamp (ms or ISO 8601) relative to `now`. The tooltip shows the timestamp itself. */
export function relativeTime(time: number | string, now: number, form: AgeForm = 'ago'): Html {
  const at = typeof time === 'number' ? time : Date.parse(time);
  const iso = formatTimestamp(at);
  return html`<time datetime="${iso}" title="${iso}" data-age="${form}">${formatRelative(form, at, now)}</time>`;
}

/** Such as `5 s ago`, `5 s old`, `in 5 s`; a time of day if a past event has a future timestamp (clock was ahead). */
export function formatRelative(form: AgeForm, at: number, now: number): string {
  const words = formatAge(now - at);
  if (form === 'until') return at - now < SECOND_MS ? 'now' : words;
  if (at - now >= SECOND_MS) return timeOfDay(at, now);
  return form === 'old' ? words.replace(/ ago$/, ' old') : words;
}

/** Such as `18:43:15 UTC`; begins with the date unless `at` is today. */
export function timeOfDay(at: number, now: number): string {
  const [day, time] = [formatTimestamp(at).slice(0, 10), formatTimestamp(at).slice(11, 19)];
  return formatTimestamp(now).startsWith(day) ? `${time} UTC` : `${day} ${time} UTC`;
}

/** Isolates text whose writing direction is unknown. `length` is the length of the text before truncation. */
export function bdi(text: string, length = text.length): Html {
  const rest = length - text.length;
  return html`<bdi>${text}</bdi>${rest > 0 ? html`<span class="cut">&hellip; ${countOf(rest, 'more character')}</span>` : ''}`;
}

/** The id is a query parameter, because it may contain characters that a path cannot. */
export function linkToLeague(leagueId: string, name: string | null): Html {
  const label = bdi(name || leagueId.slice(0, MAX_LINKED_ID_LENGTH));
  if (leagueId.length > MAX_LINKED_ID_LENGTH) return label;
  return html`<a href="/league?${new URLSearchParams({ id: leagueId }).toString()}">${label}</a>`;
}
