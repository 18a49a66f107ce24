import { html } from 'hono/html';
import {
  type Phase,
  phaseOf,
  type SeasonOverview,
  type SeasonStep,
  type SportLeagues,
} from '../../store/queries/seasons.ts';
import { DAY_MS } from '../../time/duration.ts';
import { glyphOf, monogram } from './face.ts';
import { count, dayInText, dayOf, type Html, linkToLeague, MONTHS, pathWith, visible } from './html.ts';

const YEAR_MS = 365 * DAY_MS;
const LONG_MS = 7 * DAY_MS;
const WIDTH = 1_080;
const LETTER_WIDTH = 6.5;
const MIN_LETTERS = 4;
/** Of `other changes`. */
const NAME_WIDTH = 92;

/** The first day (UTC) that a band shows, as a timestamp. */
export const bandSince = (now: number): string => `${dayOf(now - YEAR_MS)}T00:00:00.000Z`;

/** What the colours of a season mean. */
const PHASES: Record<Phase, string> = {
  pre: 'before the season',
  on: 'in season',
  late: 'playoffs',
  off: 'not active',
};

type Span = {
  readonly from: number;
  readonly to: number;
  /** As the service wrote it. */
  readonly name: string;
  readonly phase: Phase;
  /** Whether the service changed to it; false for what the first poll found, and for a league that came back. */
  readonly isBegun: boolean;
};

/** The times in which status and season stayed the same, oldest first. A time in which it was not listed has none. */
export function spansOf(steps: readonly SeasonStep[], now: number): readonly Span[] {
  const named = steps.map(({ at, status, season }) => {
    const phase = status === null ? undefined : phaseOf(status, season);
    return { from: Date.parse(at), phase, name: (phase === 'off' ? status : season?.trim()) ?? '' };
  });
  const begun = named.filter(
    ({ name, phase }, index) => name !== named[index - 1]?.name || phase !== named[index - 1]?.phase,
  );
  return begun.flatMap(({ from, name, phase }, index) => {
    if (phase === undefined) return [];
    return [{ from, to: begun[index + 1]?.from ?? now, name, phase, isBegun: begun[index - 1]?.phase !== undefined }];
  });
}

/** Such as `regular season since 8 Sep`; undefined where the service sends no season, or the league is not active. */
export function describeSeason(steps: readonly SeasonStep[], now: number): string | undefined {
  const span = spansOf(steps, now).at(-1);
  if (span === undefined || span.phase === 'off' || span.to !== now) return undefined;
  const name = span.name === 'regular' ? 'regular season' : span.name;
  return span.isBegun ? `${name} since ${dayInText(span.from, now)}` : name;
}

/** Twelve months of a league: what its season was, with the other changes as dots below. */
export function renderBand(steps: readonly SeasonStep[], now: number): Html {
  const toX = scaleOf(now);
  const spans = spansOf(steps, now);
  const begins = new Set(spans.map(({ from }) => from));
  const others = steps
    .slice(1)
    .filter(({ at, status }) => status !== null && !begins.has(Date.parse(at)) && toX(Date.parse(at)) > 0);
  const xs = others.map(({ at }) => toX(Date.parse(at)));
  const [first = 0, last = WIDTH] = [xs[0], xs.at(-1)];
  const place = last < WIDTH - NAME_WIDTH ? last + 10 : first > NAME_WIDTH ? first - NAME_WIDTH : undefined;
  const name = place === undefined ? '' : html`<text x="${place.toFixed(1)}" y="54">other changes</text>`;
  const summary = `The last twelve months: ${spans.map(({ name }) => name).join(', ')}`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Seasons"><svg class="chart band" viewBox="0 0 ${WIDTH} 60" role="img" aria-label="${summary}">${renderMonths(now, 58)}${spans.map(
    (span) => renderSpan(span, now, { y: 18, height: 22, hasName: true }),
  )}${others.map(({ at }) => html`<circle cx="${toX(Date.parse(at)).toFixed(1)}" cy="50" r="4"><title>${dayOf(Date.parse(at))}: other changes</title></circle>`)}${name}</svg></div>`;
}

const scaleOf = (now: number) => {
  const since = Date.parse(bandSince(now));
  return (at: number): number => (WIDTH * Math.max(0, at - since)) / (now - since);
};

type SpanForm = { readonly y: number; readonly height: number; readonly hasName?: boolean };

function renderSpan({ from, to, name, phase }: Span, now: number, { y, height, hasName = false }: SpanForm): Html | '' {
  const toX = scaleOf(now);
  const [x, width] = [toX(from), toX(to) - toX(from)];
  if (width <= 0) return '';
  const room = Math.floor((width - 8) / LETTER_WIDTH);
  const short = name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`;
  const label =
    hasName && room >= Math.min(MIN_LETTERS, name.length)
      ? html`<text class="in-${phase}" x="${(x + 7).toFixed(1)}" y="${y + 15}">${short}</text>`
      : '';
  return html`<g><title>${name.slice(0, 60)}: ${dayOf(from)} to ${to === now ? 'now' : dayOf(to)}</title><rect class="phase-${phase}" x="${x.toFixed(1)}" y="${y}" width="${Math.max(1, width - 1.5).toFixed(1)}" height="${height}" rx="2"/>${label}</g>`;
}

/** A line and a name for the first day of each month. */
function renderMonths(now: number, bottom: number, baseline = 10): readonly Html[] {
  const toX = scaleOf(now);
  const begin = new Date(bandSince(now));
  return Array.from({ length: 12 }, (_, index) => {
    const at = Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1 + index, 1);
    const x = toX(at);
    if (at > now || x > WIDTH - 24) return html``;
    return html`<line class="grid" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${baseline + 4}" y2="${bottom}"/><text x="${(x - 4).toFixed(1)}" y="${baseline}">${MONTHS[new Date(at).getUTCMonth()] ?? ''}</text>`;
  });
}

/** Before, a year would be empty but for its end. */
export const isKnownForLong = (steps: readonly { readonly at: string }[], now: number): boolean =>
  steps.some(({ at }) => Date.parse(at) < now - LONG_MS);

/** What is in season by sport, and a year of the first leagues. Empty where the service sends no season. */
export function renderSeasons({ now: inSeason, soon, ended, top }: SeasonOverview, now: number): Html | '' {
  const withSeason = top.filter(
    ({ steps }) => isKnownForLong(steps, now) && steps.some(({ season }) => season?.trim()),
  );
  if (inSeason.length + soon.length + ended.length + withSeason.length === 0) return '';
  const key = Object.entries(PHASES).map(
    ([phase, name]) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><rect class="phase-${phase}" width="12" height="12" rx="2"/></svg>${name}</li>`,
  );
  const rows = withSeason.map(({ league_id: id, league_name: name, steps }) => {
    const band = spansOf(steps, now).map((span) => renderSpan(span, now, { y: 0, height: 20 }));
    return html`<li><p class="plain">${monogram(id, name)} <span>${linkToLeague(id, name)} <small>${describeSeason(steps, now) ?? (steps.at(-1)?.status === 'active' ? 'no season' : 'not active')}</small></span></p><svg class="band" viewBox="0 0 ${WIDTH} 20" preserveAspectRatio="none" aria-hidden="true">${band}</svg></li>`;
  });
  const bands = html`<div class="top sub"><h3>A year of the first leagues</h3><ul class="key end">${key}</ul></div>
<ul class="bands"><li><span></span><svg class="chart band" viewBox="0 0 ${WIDTH} 20" aria-hidden="true">${renderMonths(now, 20, 15)}</svg></li>${rows}</ul>`;
  return html`<section aria-labelledby="seasons-title" data-part="seasons"><div class="top"><h2 id="seasons-title">Seasons</h2></div>
<div class="columns">${renderGroup('In season now', inSeason)}${renderGroup('Begins soon', soon)}${renderGroup('Ended lately', ended)}</div>${withSeason.length === 0 ? '' : bands}</section>`;
}

const MAX_SPORTS = 6;

function renderGroup(title: string, sports: readonly SportLeagues[]): Html | '' {
  if (sports.length === 0) return '';
  const rest = sports.slice(MAX_SPORTS).reduce((sum, { leagues }) => sum + leagues, 0);
  const item = ({ sport, leagues, first }: SportLeagues): Html => {
    const names = first.map(
      ({ league_id, league_name }, index) => html`${index > 0 ? ', ' : ''}${linkToLeague(league_id, league_name)}`,
    );
    const more = leagues > first.length ? ` and ${count(leagues - first.length)} more` : '';
    return html`<li>${glyphOf(sport)}<span><a href="${pathWith('leagues', { sport })}">${visible(sport, '(empty)')}</a> <span class="muted">${names}${more}</span></span></li>`;
  };
  return html`<div><h3>${title}</h3><ul class="in-season plain">${sports.slice(0, MAX_SPORTS).map(item)}${rest > 0 ? html`<li class="muted">and ${count(rest)} of other sports</li>` : ''}</ul></div>`;
}
