import { formatFault, type Notice, type SettingsError } from '../errors.ts';
import { type Paint, visible } from './style.ts';
import { hang, widthOf } from './table.ts';

/** A terminal that lines are laid out for. */
export type Screen = { readonly columns: number; readonly paint: Paint };

/** Behind its lead: in a pipe one line, at a terminal wrapped at words and with the fix on a line of its own. */
export function layOutFault(lead: string, notice: Notice, screen: Screen | undefined): string {
  const message = visible(notice.message);
  const fix = notice.fix === undefined ? undefined : visible(notice.fix);
  if (screen === undefined) return lead + (fix === undefined ? message : formatFault({ message, fix }));
  const found = hang(lead, message, screen.columns);
  if (fix === undefined) return found.join('\n');
  const fixed = hang(`${' '.repeat(widthOf(lead))}→ `, fix, screen.columns);
  return [...found, ...fixed.map((line) => screen.paint('warning', line))].join('\n');
}

/** All that is wrong with settings, a line each. */
export function layOutSettingsError({ faults, warnings, advice }: SettingsError, screen: Screen | undefined): string {
  const lines = [...faults, ...warnings].map((fault) => layOutFault('  - ', fault, screen));
  const start = advice === undefined ? [] : [layOutFault('', { message: `To start: ${advice}.` }, screen)];
  return ['the settings cannot be used:', ...lines, ...start].join('\n');
}
