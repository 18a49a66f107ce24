/**
 * `wordAge` and what it needs, for the browser: ages grow while a page is open, also when nothing comes any more. It says
 * the same as the one in words.ts; test/unit/page-ages.test.ts compares them.
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
