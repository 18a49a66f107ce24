/**
 * Keeps an open page up to date: asks for it again while somebody sees it, and puts what is new in the place of what was.
 * Nothing is touched that somebody is just using; without it the page is the same, as of when it was asked for.
 */
export const SCRIPT = `
const EVERY_MS = 10_000;
const isUsed = (part) => part.contains(document.activeElement) || !document.getSelection().isCollapsed;
async function renew() {
  if (document.visibilityState !== 'visible') return;
  const answer = await fetch(location.href);
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  const main = document.querySelector('main');
  if (fresh === null || main === null || isUsed(main)) return;
  const open = [...main.querySelectorAll('details')].map((details) => details.open);
  main.replaceChildren(...fresh.childNodes);
  for (const [index, details] of main.querySelectorAll('details').entries()) details.open = open[index] ?? false;
}
setInterval(() => renew().catch(() => undefined), EVERY_MS);
`;
