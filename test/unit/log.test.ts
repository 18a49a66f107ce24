import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formatLine } from '../../src/log.ts';
import { createPaint, PLAIN } from '../../src/terminal/style.ts';

const TIME = '2026-11-22T19:52:10.999Z';

describe('a line of the log for people', () => {
  it.each([
    [10, 'TRACE said'],
    [20, 'DEBUG said'],
    [30, 'INFO  said'],
    [40, 'WARN  said'],
    [50, 'ERROR said'],
    [60, 'FATAL said'],
  ])('of level %i begins with the date and the time in UTC, and its words stand below each other', (level, rest) => {
    expect(formatLine({ level, time: TIME, msg: 'said' }, PLAIN)).toBe(`2026-11-22 19:52:10Z ${rest}`);
  });

  it('colours the level but not the message', () => {
    const line = formatLine({ level: 40, time: TIME, msg: 'said' }, { ...PLAIN, paint: createPaint(true) });
    expect(stripVTControlCharacters(line)).toBe('2026-11-22 19:52:10Z WARN  said');
    expect(line.endsWith(' said')).toBe(true);
    expect(line).toContain('\u001b[33mWARN ');
  });

  it('stays one line, and escapes control characters', () => {
    const msg = 'the service says \u001b[2J\nINFO  all is well';
    expect(formatLine({ level: 30, time: TIME, msg }, PLAIN)).toBe(
      '2026-11-22 19:52:10Z INFO  the service says \\u001b[2J\\u000aINFO  all is well',
    );
  });

  it('has the stack of an unexpected error below it', () => {
    const err = { stack: '    at poll (file.ts:1:2)\n    at run (file.ts:3:4)' };
    expect(formatLine({ level: 50, time: TIME, msg: 'failed', err }, PLAIN).split('\n')).toEqual([
      '2026-11-22 19:52:10Z ERROR failed',
      '    at poll (file.ts:1:2)',
      '    at run (file.ts:3:4)',
    ]);
  });
});
