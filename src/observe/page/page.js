/**
 * Keeps an open page up to date: fetches it every 10 s, replaces changed parts, updates ages every second, and warns if
 * the worker stops answering. A part that has the focus is not replaced, unless the focus can move to the same link,
 * summary or chart in the new version. A part with selected text is not replaced, unless it shows the state or the
 * session. Charts keep their place in sideways scrolling. The warning is made here, so that browsers without scripts
 * never show it.
 */

// The browser's version of `formatRelative` in html.ts; `ms` is the age. test/unit/page-ages.test.ts compares both.
const UNITS = [
  [1_000, 's', 120_000],
  [60_000, 'min', 7_200_000],
  [3_600_000, 'h', 172_800_000],
  [86_400_000, 'd', Infinity],
];

const PASSED = { until: 'now', due: 'due now' };

function formatRelative(form, ms) {
  const size = Math.abs(ms);
  if (form in PASSED && ms > -1_000) return PASSED[form];
  if (size < 1_000) return 'just now';
  const [unit, name] = UNITS.find(([, , below]) => size < below);
  const text = `${Math.floor(size / unit)} ${name}`;
  return ms < 0 ? `in ${text}` : text + { ago: ' ago', old: ' old', for: '' }[form];
}

const ANSWER_WITHIN_MS = 8_000;
// A hidden tab, of which only title and icon are visible, sends a request once a minute.
const everyMs = () => (document.visibilityState === 'visible' ? 10_000 : 60_000);

const main = document.querySelector('main');
const icon = document.querySelector('link[rel=icon]');
const pill = document.getElementById('pill');
const lostIcon = icon.getAttribute('href').replace(/icon-\w+/, 'icon-lost');
main.insertAdjacentHTML(
  'afterbegin',
  '<div class="state lost" id="lost" role="alert" hidden><img class="icon" src="' +
    lostIcon +
    '" alt="" width="48" height="48"><div class="what"><h1>Not reachable since <span></span></h1><p>The worker has not answered since. What you see is as of then<span></span>. This page keeps trying.<br>To see whether the worker runs, on its machine:</p><code class="command"></code></div></div>',
);
const lost = main.firstElementChild;
lost.querySelector('code').textContent = main.dataset.command;

let heardAt = Date.now();
// The start of the wait for a response; restarted after a sleep or when the tab is shown or hidden.
let waitingSince = heardAt;
let askedAt = heardAt;
let tickedAt = heardAt;
let asking = false;
let current = { title: document.title, icon: icon.getAttribute('href') };

async function renew() {
  if (asking) return;
  asking = true;
  askedAt = Date.now();
  try {
    const answer = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const nextMain = next.querySelector('main[data-now]');
    // The worker is too busy to render, or another program answered.
    if (nextMain === null) return;
    heardAt = waitingSince = Date.now();
    main.dataset.now = nextMain.dataset.now;
    current = { title: next.title, icon: next.querySelector('link[rel=icon]').getAttribute('href') };
    const nextPill = next.getElementById('pill');
    if (contentOf(pill) !== contentOf(nextPill)) pill.innerHTML = nextPill.innerHTML;
    putParts(nextMain);
    show(false);
  } catch {
    // The next request may succeed; until then tick() shows the loss.
  } finally {
    asking = false;
  }
}

function putParts(nextMain) {
  const names = new Set();
  let before = lost;
  for (const next of nextMain.querySelectorAll(':scope > [data-part]')) {
    names.add(next.dataset.part);
    const part = main.querySelector(`:scope > [data-part="${next.dataset.part}"]`);
    if (part === null) before.after(next);
    else replace(part, next);
    before = part?.isConnected ? part : next;
  }
  for (const part of main.querySelectorAll(':scope > [data-part]')) if (!names.has(part.dataset.part)) part.remove();
}

function replace(part, next) {
  if (contentOf(part) === contentOf(next)) return;
  const focused = part.querySelector(':focus');
  const isSame = (element) =>
    element.matches('.scroll') ? element.ariaLabel === focused.ariaLabel : element.outerHTML === focused.outerHTML;
  const successor =
    focused?.matches('a, summary, .scroll') && [...next.querySelectorAll('a, summary, .scroll')].find(isSame);
  const selection = document.getSelection();
  const isSelected = !selection.isCollapsed && selection.containsNode(part, true);
  // The state and the session are replaced even if text in them is selected.
  const mayWait = !['state', 'worker'].includes(part.dataset.part);
  if ((mayWait && isSelected) || (focused && !successor)) return;
  const isOpen = part.querySelector('details[open]') !== null;
  for (const details of next.querySelectorAll('details')) details.open = isOpen;
  const scrolled = [...part.querySelectorAll('.scroll')].map((element) => element.scrollLeft);
  part.replaceWith(next);
  for (const [index, element] of next.querySelectorAll('.scroll').entries()) element.scrollLeft = scrolled[index] ?? 0;
  if (successor) successor.focus({ preventScroll: true });
}

// The HTML of a part, ignoring the text of ages and whether details are open.
function contentOf(part) {
  const copy = part.cloneNode(true);
  for (const age of copy.querySelectorAll('[data-age]')) age.textContent = '';
  for (const details of copy.querySelectorAll('details')) details.open = false;
  return copy.outerHTML;
}

function tick() {
  const now = Date.now();
  // A tick this late means that the machine slept or its clock was set.
  const slept = Math.abs(now - tickedAt) > 1.5 * everyMs();
  tickedAt = now;
  if (slept) restartWait();
  else if (now - askedAt >= everyMs()) renew();
  // After this time two requests have failed.
  show(now - waitingSince > 2 * everyMs() + 2_000);
  for (const age of document.querySelectorAll('[data-age]')) {
    const { age: form, at = age.dateTime } = age.dataset;
    const ms = Date.parse(main.dataset.now) + now - heardAt - Date.parse(at);
    // Whether a past state lasts is not known without the worker: only its times are true.
    const words = lost.hidden ? formatRelative(form, ms) : age.title;
    // A past event with a future timestamp (the clock was ahead) keeps its time of day.
    if (age.textContent !== words && (form in PASSED || ms >= 0)) age.textContent = words;
  }
}

// No request was sent meanwhile, so give the worker time to answer, unless it is lost already.
function restartWait() {
  if (lost.hidden) waitingSince = Date.now();
  renew();
}

function show(isLost) {
  const tab = isLost ? { title: '? not reachable · league-sync', icon: lostIcon } : current;
  if (document.title !== tab.title) document.title = tab.title;
  if (icon.getAttribute('href') !== tab.icon) icon.setAttribute('href', tab.icon);
  if (lost.hidden !== isLost) return;
  const dataAt = pill.querySelector('time')?.title;
  lost.querySelector('h1 span').textContent = `${main.dataset.now.slice(11, 19)} UTC`;
  lost.querySelector('p span').textContent = dataAt ? `, with data of ${dataAt}` : '';
  lost.hidden = !isLost;
  main.classList.toggle('dim', isLost);
  pill.hidden = isLost;
}

// A slash goes to the search, unless it is typed into something.
document.addEventListener('keydown', (event) => {
  const search = document.querySelector('[type=search]');
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || search === null) return;
  if (event.target.matches('input, select')) return;
  event.preventDefault();
  search.focus();
});

document.addEventListener('visibilitychange', restartWait);
setInterval(tick, 1_000);
