import { iconPath } from './style.ts';

/**
 * `wordAge` and what it needs, for the browser: ages grow while a page is open, also when nothing comes any more. It says
 * the same as the one in html.ts; test/unit/page-ages.test.ts compares them.
 */
export const AGES = `
function wordAge(form, at, now) {
  const [ms, size] = [now - at, Math.abs(now - at)];
  if (form === 'until' && -ms < 1_000) return 'now';
  if (form !== 'until' && -ms >= 1_000) return timeOfDay(at, now);
  if (size < 1_000) return 'just now';
  const units = [[1_000, 's', 120_000], [60_000, 'min', 7_200_000], [3_600_000, 'h', 172_800_000], [86_400_000, 'd', Infinity]];
  const [unit, name] = units.find(([, , below]) => size < below);
  const text = Math.floor(size / unit) + ' ' + name;
  return ms < 0 ? 'in ' + text : text + (form === 'old' ? ' old' : ' ago');
}
function timeOfDay(at, now) {
  const [day, today] = [at, now].map((ms) => new Date(ms).toISOString());
  return (day.slice(0, 10) === today.slice(0, 10) ? '' : day.slice(0, 10) + ' ') + day.slice(11, 19) + ' UTC';
}
`;

/**
 * Keeps an open page true: asks for it again while it is seen and replaces each part that is new, has ages grow each
 * second, and says if no answer comes for a while. A part in which text is selected or a field is filled in is left alone.
 * Without the script the page is the same, as of when it was asked for.
 */
export const SCRIPT = `
${AGES}
const ANSWER_WITHIN_MS = 8_000;
/* How often the page is asked for; after how long without an answer it says so (two requests have failed); from when on a
   tick is so late that the machine slept. Of a hidden tab only title and icon are seen, and it ticks once a minute. */
const VISIBLE = { everyMs: 10_000, lostAfterMs: 20_000, lateMs: 5_000 };
const HIDDEN = { everyMs: 60_000, lostAfterMs: 130_000, lateMs: 90_000 };

const main = document.querySelector('main');
const icon = document.querySelector('link[rel=icon]');
const lost = document.getElementById('lost');

/* The worker's clock: what it said last, and when. */
let asOf = Date.parse(main.dataset.now);
let heardAt = Date.now();
/* Since when an answer is waited for: later than the last one if nobody looked meanwhile. */
let waitingSince = heardAt;
let askedAt = heardAt;
let tickedAt = heardAt;
let asking = false;
let seen = { title: document.title, icon: icon.getAttribute('href') };

async function renew() {
  if (asking) return;
  asking = true;
  askedAt = Date.now();
  try {
    const answer = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const nextMain = next.querySelector('main[data-now]');
    /* The worker has no time just now, or something else answers in its place. */
    if (nextMain === null) return;
    asOf = Date.parse(nextMain.dataset.now);
    heardAt = waitingSince = Date.now();
    seen = { title: next.title, icon: next.querySelector('link[rel=icon]').getAttribute('href') };
    document.getElementById('asof').textContent = next.getElementById('asof').textContent;
    putParts(nextMain);
    tick();
  } catch {
    /* The next one may succeed; until then the tick tells. */
  } finally {
    asking = false;
  }
}

function putParts(nextMain) {
  const names = new Set();
  let before = lost;
  for (const next of nextMain.querySelectorAll(':scope > [data-part]')) {
    names.add(next.dataset.part);
    const part = main.querySelector(':scope > [data-part="' + next.dataset.part + '"]');
    if (part === null) before.after(next);
    else replace(part, next);
    before = part !== null && part.isConnected ? part : next;
  }
  for (const part of main.querySelectorAll(':scope > [data-part]')) if (!names.has(part.dataset.part)) part.remove();
}

function replace(part, next) {
  if (essence(part) === essence(next)) {
    for (const [age, newer] of pairs('time[data-age]', part, next)) [age.dateTime, age.title] = [newer.dateTime, newer.title];
    return;
  }
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const heir = focused === null ? null : findHeir(focused, part, next);
  /* What says how things are is renewed whatever is selected in it. */
  const mayWait = !['state', 'tiles'].includes(part.dataset.part);
  const selection = document.getSelection();
  const isSelected = !selection.isCollapsed && selection.containsNode(part, true);
  if ((mayWait && isSelected) || (focused !== null && heir === null)) return;
  for (const [old, open] of pairs('details', part, next)) open.open = old.open;
  const scrolled = pairs('.scroll', part, next).map(([old, place]) => [place, old.scrollLeft, old.scrollTop]);
  part.replaceWith(next);
  for (const [place, left, top] of scrolled) [place.scrollLeft, place.scrollTop] = [left, top];
  heir?.focus({ preventScroll: true });
}

/* What a part says: of ages the instant that they are counted from, if that stays the same while nothing happens. */
function essence(part) {
  const copy = part.cloneNode(true);
  for (const age of copy.querySelectorAll('[data-age]')) age.replaceWith(age.dataset.age === 'ago' ? age.dataset.at ?? age.dateTime : '');
  for (const details of copy.querySelectorAll('details')) details.open = false;
  return copy.outerHTML;
}

function pairs(selector, part, next) {
  const others = next.querySelectorAll(selector);
  return [...part.querySelectorAll(selector)].flatMap((one, index) => (others[index] ? [[one, others[index]]] : []));
}

/* What stands in the new part for what has the focus; null for a field, which holds what somebody is typing. */
function findHeir(focused, part, next) {
  if (focused.matches('a')) return [...next.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused.getAttribute('href')) ?? null;
  if (!focused.matches('summary, [tabindex]')) return null;
  return pairs('summary, [tabindex]', part, next).find(([one]) => one === focused)?.[1] ?? null;
}

function tick() {
  const now = Date.now();
  const { everyMs, lostAfterMs, lateMs } = document.visibilityState === 'visible' ? VISIBLE : HIDDEN;
  const slept = Math.abs(now - tickedAt) > lateMs;
  tickedAt = now;
  if (slept) waitAnew();
  else if (now - askedAt >= everyMs) renew();
  const workerNow = asOf + now - heardAt;
  for (const age of document.querySelectorAll('[data-age]')) {
    const words = wordAge(age.dataset.age, Date.parse(age.dataset.at ?? age.dateTime), workerNow);
    if (age.textContent !== words) age.textContent = words;
  }
  show(now - waitingSince > lostAfterMs);
}

/* Nothing was heard since nobody listened: the worker gets the time to answer, unless it had that already. */
function waitAnew() {
  if (lost.hidden) waitingSince = Date.now();
  renew();
}

function show(isLost) {
  const told = isLost ? { title: '? no word · league-sync', icon: '${iconPath('lost')}' } : seen;
  if (document.title !== told.title) document.title = told.title;
  if (icon.getAttribute('href') !== told.icon) icon.setAttribute('href', told.icon);
  if (lost.hidden !== isLost) return;
  document.getElementById('lost-asof').textContent = timeOfDay(asOf, asOf + Date.now() - heardAt);
  lost.hidden = !isLost;
  main.classList.toggle('dim', isLost);
}

document.addEventListener('visibilitychange', waitAnew);
setInterval(tick, 1_000);
`;
