import { html } from 'hono/html';
import type { Facet } from '../../store/queries/leagues.ts';
import { plural } from '../../terminal/text.ts';
import { formatTimestamp, timeOfDay } from '../../time/clock.ts';
import { DAY_MS, formatAge, formatCount, SECOND_MS } from '../../time/duration.ts';

export const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
/** Longer ids may not fit into the URL of a request. */
const MAX_LINKED_ID_LENGTH = 2_000;

/** Escaped HTML. */
export type Html = ReturnType<typeof html>;

type AgeForm = 'ago' | 'old' | 'for' | 'until' | 'due';

export const count = formatCount;

/** In ms, or ISO 8601. */
type Time = number | string;

const toMs = (time: Time): number => (typeof time === 'number' ? time : Date.parse(time));

/** Renders a timestamp relative to `now`. The tooltip, and paper, show the timestamp itself. */
export function relativeTime(time: Time, now: number, form: AgeForm = 'ago'): Html {
  return html`<time ${attributesOf(toMs(time))} data-age="${form}">${formatRelative(form, toMs(time), now)}</time>`;
}

/** Renders what is to come as `14:45:00 UTC (in 82 s)`. */
export function dueTime(time: Time, now: number): Html {
  return html`${timeOfDay(toMs(time), now)} (${relativeTime(time, now, 'due')})`;
}

/** Renders a timestamp as `Today 14:45`, `Yesterday 14:45`, `3 Nov 14:45` or `3 Nov 2025 14:45`. */
export function moment(time: Time, now: number): Html {
  return timeOnly(time, `${nameOfDay(toMs(time), now)} `);
}

/** The same within a sentence: `today 14:45`. */
export function momentInText(time: Time, now: number): Html {
  return timeOnly(time, `${dayInText(toMs(time), now)} `);
}

export function dayInText(at: number, now: number): string {
  return nameOfDay(at, now).replace(/^[TY]/, (letter) => letter.toLowerCase());
}

/** The time of a day that has been named already, or after its name; `precise` to the second. */
export function timeOnly(time: Time, day = '', precise = false): Html {
  return html`<time ${attributesOf(toMs(time))}>${day}${formatTimestamp(toMs(time)).slice(11, precise ? 19 : 16)}</time>`;
}

function attributesOf(at: number): Html {
  const iso = formatTimestamp(at);
  return html`datetime="${iso}" title="${toSecond(iso)} UTC"`;
}

/** A timestamp as `2026-11-20 14:45:00`. */
export const toSecond = (iso: string): string => iso.slice(0, 19).replace('T', ' ');

/** Such as `Today`, `Yesterday`, `3 Nov`; with the year unless it is this one. All days are in UTC. */
export function nameOfDay(at: number, now: number): string {
  const day = dayOf(at);
  if (day === dayOf(now)) return 'Today';
  if (day === dayOf(now - DAY_MS)) return 'Yesterday';
  const [year = '', month, date] = day.split('-');
  return `${Number(date)} ${MONTHS[Number(month) - 1]}${dayOf(now).startsWith(year) ? '' : ` ${year}`}`;
}

const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const MONTH_NAMES = 'January February March April May June July August September October November December'.split(' ');

/** Such as `Today, Tuesday 24 November`; with the year unless it is this one. */
export function longNameOfDay(day: string, now: number): string {
  const at = new Date(day);
  const name = nameOfDay(at.getTime(), now);
  const year = dayOf(now).startsWith(day.slice(0, 4)) ? '' : ` ${day.slice(0, 4)}`;
  const date = `${WEEKDAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTH_NAMES[at.getUTCMonth()]}${year}`;
  return /^[TY]/.test(name) ? `${name}, ${date}` : date;
}

/** The day in UTC, `YYYY-MM-DD`. */
export const dayOf = (at: number): string => formatTimestamp(at).slice(0, 10);

/** Of an end, and of what has not begun although it should have. */
const PASSED = { until: 'now', due: 'due now' } as const;

/** Such as `5 s ago`, `5 s old`, `5 s`, `in 5 s`; a time of day if a past event has a future timestamp (clock was ahead). */
export function formatRelative(form: AgeForm, at: number, now: number): string {
  const words = formatAge(now - at);
  if (form === 'until' || form === 'due') return at - now < SECOND_MS ? PASSED[form] : words;
  if (at - now >= SECOND_MS) return timeOfDay(at, now);
  return form === 'ago' ? words : words.replace(/ ago$/, form === 'old' ? ' old' : '');
}

/** Isolates text whose writing direction is unknown. `length` is the length of the text before truncation. */
export function bdi(text: string, length = text.length): Html {
  const rest = length - text.length;
  return html`<bdi>${text}</bdi>${rest > 0 ? html`<span class="cut">&hellip; ${plural(rest, 'more character')}</span>` : ''}`;
}

/** The same, but `otherwise` for text that cannot be seen, such as none or a space. */
export function visible(text: string | null, otherwise: string): Html {
  return text?.trim() ? bdi(text) : html`<span class="muted">${otherwise}</span>`;
}

/** A path with a query of these values; empty ones are left out. */
export function pathWith(path: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, String(value));
  return query.size > 0 ? `${path}?${query}` : path;
}

type Link = readonly [words: string, path?: string];

/** Links in a row; what has no path is only said. */
export function renderLinks(label: string, links: readonly (Link | false | undefined)[]): Html | '' {
  const items = links.map((link) => {
    if (!link) return '';
    const [words, path] = link;
    return path === undefined ? html`<li class="muted">${words}</li>` : html`<li><a href="${path}">${words}</a></li>`;
  });
  return items.some((item) => item) ? html`<nav aria-label="${label}"><ul class="pages">${items}</ul></nav>` : '';
}

/** A choice of a form. A chosen value that is not among the `options` is added to them; an empty one stands for all. */
export function renderSelect(
  name: string,
  options: readonly (string | Facet)[],
  chosen = '',
  all = `all ${name}s`,
): Html {
  const named = options.map((option) => (typeof option === 'string' ? { name: option } : option));
  const known = named.some((option) => option.name === chosen) ? named : [...named, { name: chosen }];
  const render = (value: string, label: string): Html =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`;
  return html`<select name="${name}" aria-label="${name}">${render('', all)}${known.map((option) => {
    if (option.name === '') return '';
    return render(
      option.name,
      'leagues' in option ? `${isolate(option.name)} (${count(option.leagues)})` : option.name,
    );
  })}</select>`;
}

/** An option holds no element that could isolate a text that is written from right to left. */
const isolate = (text: string): string =>
  /[\u0590-\u08ff\u200f\u202b\u202e\ufb1d-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text.trim() || '(empty)';

/** The name of a league as the queries of lists cut it. */
const MAX_NAME_LENGTH = 200;

/** The id is a query parameter, because it may contain characters that a path cannot. */
export function linkToLeague(leagueId: string, name: string | null): Html {
  const isCut = name !== null && name.length >= MAX_NAME_LENGTH;
  const label = isCut ? html`<bdi>${name}&hellip;</bdi>` : visible(name, '(no name)');
  if (leagueId.length > MAX_LINKED_ID_LENGTH) return label;
  return html`<a href="league?${new URLSearchParams({ id: leagueId }).toString()}">${label}</a>`;
}
