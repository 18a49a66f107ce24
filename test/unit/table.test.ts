import { describe, expect, it } from 'vitest';
import { createPaint, PLAIN } from '../../src/terminal/style.ts';
import { formatRecord, formatTable } from '../../src/terminal/table.ts';
import { formatNotice, hangingIndent, truncate, wrap } from '../../src/terminal/text.ts';

const FAMILY = '👨‍👩‍👧';

describe('a table', () => {
  const rows = [
    ['1', 'short', 'a very long cell that goes on and on'],
    ['22', 'a middling cell', 'x'],
  ];

  it('is as wide as its cells without a limit', () => {
    expect(formatTable(['n', 'some', 'more'], rows).split('\n')).toEqual([
      'n   some             more',
      '1   short            a very long cell that goes on and on',
      '22  a middling cell  x',
    ]);
  });

  it('fits the width, and the widest columns give way first', () => {
    expect(formatTable(['n', 'some', 'more'], rows, { ...PLAIN, columns: 40 }).split('\n')).toEqual([
      'n   some             more',
      '1   short            a very long cell t…',
      '22  a middling cell  x',
    ]);
    expect(formatTable(['n', 'some', 'more'], rows, { ...PLAIN, columns: 26 }).split('\n')).toEqual([
      'n   some        more',
      '1   short       a very lo…',
      '22  a middlin…  x',
    ]);
  });

  it('wraps the last column instead, if it may have several lines', () => {
    const terminal = { ...PLAIN, columns: 30 };
    const wrapped = (lastLines: number) => formatTable(['n', 'some', 'more'], rows, terminal, lastLines).split('\n');
    expect(wrapped(4)).toEqual([
      'n   some          more',
      '1   short         a very long',
      '                  cell that',
      '                  goes on and',
      '                  on',
      '22  a middling…   x',
    ]);
    expect(wrapped(3).slice(1, 5)).toEqual([
      '1   short         a very long',
      '                  cell that',
      '                  goes on and…',
      '22  a middling…   x',
    ]);
  });

  it('keeps every column visible, however narrow the terminal is', () => {
    expect(formatTable(['n', 'some', 'more'], rows, { ...PLAIN, columns: 3 })).toContain('a ver…');
  });

  it('is painted after it was laid out, and not at all without colours', () => {
    const painted = [[{ text: 'failed', tone: 'bad' }, 'x'] as const];
    const plain = 'outcome  n\nfailed   x';
    expect(formatTable(['outcome', 'n'], painted, { ...PLAIN, paint: createPaint(false) })).toBe(plain);
    expect(formatTable(['outcome', 'n'], painted)).toBe(plain);
    const colored = formatTable(['outcome', 'n'], painted, { ...PLAIN, paint: createPaint(true) });
    expect(colored).toContain('\u001b[31mfailed\u001b[39m   x');
  });

  it('escapes control characters in cells', () => {
    expect(formatTable(['n'], [['\u001b[31mred']])).toBe('n\n\\u001b[31mred');
  });
});

it('a record has a line for each name, and a long text goes on below itself', () => {
  const rows = [
    ['id', 'l1'],
    ['\u001bname', 'one two three', 'bad'],
    ['none', ''],
  ] as const;
  expect(formatRecord(rows, { ...PLAIN, columns: 20 }).split('\n')).toEqual([
    'id          l1',
    '\\u001bname  one two',
    '            three',
    'none',
  ]);
  expect(formatRecord(rows)).toContain('one two three');
  expect(formatRecord(rows, { ...PLAIN, paint: createPaint(true) })).toContain('\u001b[31mone two three');
});

describe('a truncated text', () => {
  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['ab cdefg', 4, 'ab…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    [`${FAMILY}abc`, 4, `${FAMILY}a…`],
    ['abc', 1, '…'],
    ['', 5, ''],
  ])('%s at %i is %s', (text, width, shown) => {
    expect(truncate(text, width)).toBe(shown);
  });

  it('may be of any length', () => {
    expect(truncate('x'.repeat(200_000), 10)).toBe('xxxxxxxxx…');
  });
});

describe('wrapped text', () => {
  it('breaks only at spaces', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a-word-that-is-too-long b', 5)).toEqual(['a-word-that-is-too-long', 'b']);
    expect(wrap('', 5)).toEqual(['']);
    expect(wrap('one two', Number.POSITIVE_INFINITY)).toEqual(['one two']);
    expect(wrap('one two three', 7, 2)).toEqual(['one two', '  three']);
    expect(hangingIndent('a  b ', 'one two', 9)).toEqual(['a  b one', '     two']);
    expect(hangingIndent('a  b ', 'one two', 9, 1)).toEqual(['a  b one', ' two']);
  });

  it.each([
    ['then run league-sync sync --dry-run again', 30, ['then run', 'league-sync sync --dry-run', 'again']],
    ['then run league-sync sync --dry-run again', 20, ['then run league-sync', 'sync --dry-run again']],
    ['polled 12 s ago', 12, ['polled', '12 s ago']],
    ['at "*/5 * * * *" (UTC)', 15, ['at', '"*/5 * * * *"', '(UTC)']],
  ])('keeps what belongs together on one line: %s', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });
});

it.each([
  ['at a terminal', { ...PLAIN, columns: 80 }],
  ['in a pipe', PLAIN],
])('a notice escapes control characters in its message and its fix %s', (_, terminal) => {
  const text = formatNotice('', { message: 'a\u001b[31m', fix: 'b\u001b[32m' }, terminal);
  expect(text).toContain('a\\u001b[31m');
  expect(text).toContain('b\\u001b[32m');
  expect(text).not.toContain('\u001b');
});
