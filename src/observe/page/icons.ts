import type { Verdict } from '../verdict.ts';

/** `lost` means that the page cannot reach the worker. */
type IconName = Verdict['state'] | 'lost';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">`;
/** The shapes differ, so that people with colour blindness can tell the icons apart. */
const SHAPES: Readonly<Record<IconName, string>> = {
  good: '<circle cx="16" cy="16" r="15" fill="#1a7f37" stroke="none"/><path d="M9.5 16.5l4.5 4.5 8.5-10"/>',
  warning: '<path d="M16 3.5L29.5 28h-27z" fill="#9a6700" stroke="#9a6700"/><path d="M16 12v7m0 4.5v.01"/>',
  bad: '<path d="M10.2 1.5h11.6l8.7 8.7v11.6l-8.7 8.7H10.2l-8.7-8.7V10.2z" fill="#b3261e" stroke="none"/><path d="M11 11l10 10m0-10L11 21"/>',
  loading:
    '<circle cx="16" cy="16" r="13.5" stroke="#768390"/><path d="M10 16v.01M16 16v.01M22 16v.01" stroke="#768390" stroke-width="4"/>',
  lost: '<circle cx="16" cy="16" r="15" fill="#57606a" stroke="none"/><path d="M11.5 12.5a4.5 4.5 0 1 1 6.4 4c-1.2.6-1.9 1.4-1.9 2.9m0 4.6v.01"/>',
};

export const iconPath = (name: Verdict['state']): string => `icon-${name}.svg`;

export const ICONS = Object.entries(SHAPES).map(([name, shape]) => ({
  path: `/icon-${name}.svg`,
  svg: `${SVG}${shape}</svg>`,
}));
