import type { Fault } from '../errors.ts';
import { nearName } from '../near-name.ts';
import { PREFIX, SETTING_NAMES } from './settings.ts';

/** What is set in a `.env` file, as it is written. */
type Entry = {
  /** Undefined if the line is not of the form NAME=value. */
  readonly name: string | undefined;
  /** All that stands behind the `=` in that line. */
  readonly value: string;
  /** Numbers of the lines in which it begins and ends. */
  readonly line: number;
  readonly lastLine: number;
};

const ASSIGNMENT = /^(?:export +)?([\w.-]+)\s*=(.*)$/;
const QUOTED = /^\s*(["'`])(.*)$/;
/** A `#` ends a value without quotes, also where it seems to be a part of it. */
const CUT = /^(?:[^#]*[^#\s])?#/;
const COMMENT = /^\s*(?:#|$)/;

/**
 * What means nothing in the text of a `.env` file, or something else than it seems to. `util.parseEnv` reads the file
 * and says nothing of it. No value is repeated: it may be a secret.
 */
export function findOddLines(text: string): readonly Fault[] {
  const lines = new Map<string, number>();
  return readEntries(text).flatMap((entry): readonly Fault[] => {
    const { name = '', line } = entry;
    const before = lines.get(name);
    lines.set(name, line);
    return findOddities(entry, before).map(({ message, fix }) => ({ message: `.env, line ${line}: ${message}`, fix }));
  });
}

function findOddities({ name, ...entry }: Entry, before: number | undefined): readonly Fault[] {
  if (name === undefined) return [NO_ASSIGNMENT];
  if (!name.startsWith(PREFIX)) return findMisspelling(name);
  const again = { message: `${name} is set in line ${before} too, and the last one counts`, fix: 'keep one of them' };
  return [...(before === undefined ? [] : [again]), ...findOddValue(name, entry)];
}

const NO_ASSIGNMENT = { message: 'is not NAME=value and is ignored', fix: 'write NAME=value, or put # before it' };

/** Names of other programs are none of ours; one that only differs in how it is written may well be meant for us. */
function findMisspelling(name: string): readonly Fault[] {
  const near = nearName(name.toUpperCase().replaceAll(/[.-]/g, '_'), SETTING_NAMES);
  if (near === undefined) return [];
  return [{ message: `${name} is not a setting and is ignored`, fix: `rename it (did you mean ${near}?)` }];
}

function findOddValue(name: string, { value, line, lastLine }: Omit<Entry, 'name'>): readonly Fault[] {
  const [, quote = '', quoted = ''] = QUOTED.exec(value) ?? [];
  const end = quoted.indexOf(quote);
  const fix = 'put the whole value between quotes';
  if (quote === '') return CUT.test(value) ? [{ message: `the value of ${name} ends before the #`, fix }] : [];
  if (end >= 0) {
    if (COMMENT.test(quoted.slice(end + 1))) return [];
    return [{ message: `the value of ${name} ends at the second quote`, fix: `${fix} of another kind` }];
  }
  if (lastLine > line) return [{ message: `the value of ${name} ends in line ${lastLine}`, fix: 'close the quote' }];
  return [{ message: `the quote before the value of ${name} counts as a part of it`, fix: 'close it, or remove it' }];
}

function readEntries(text: string): readonly Entry[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const entries: Entry[] = [];
  for (let lastLine = 0; lastLine < lines.length; ) {
    const written = lines[lastLine] ?? '';
    const line = ++lastLine;
    if (COMMENT.test(written)) continue;
    const [, name, value = ''] = ASSIGNMENT.exec(written) ?? [];
    const [, quote, quoted = ''] = QUOTED.exec(value) ?? [];
    if (quote !== undefined && !quoted.includes(quote)) {
      // It goes on to the next such quote, if there is one.
      lastLine += lines.slice(lastLine).findIndex((later) => later.includes(quote)) + 1;
    }
    entries.push({ name, value, line, lastLine });
  }
  return entries;
}
