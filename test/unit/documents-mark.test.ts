import { describe, expect, it } from 'vitest';
import { PLAIN, readComment, readMark } from '../documents/mark.ts';

describe('a comment', () => {
  it.each([
    ['<!-- run: exits 1 -->', 'run: exits 1'],
    ['  <!--not run: no such thing-->', 'not run: no such thing'],
    ['<!-- among the lines of terminal 2 -->', 'among the lines of terminal 2'],
    ['<!-- a remark of an author -->', undefined],
    ['<!-- running -->', undefined],
    ['see `<!-- run: exits 1 -->`', undefined],
  ])('%s is meant for us: %s', (line, words) => expect(readComment(line)).toBe(words));
});

describe('the words of a comment', () => {
  it.each([
    ['not run: by test/deploy', { reason: 'by test/deploy' }],
    ['among the lines of terminal 2', { amongLinesOf: '2' }],
    ['run: in terminal 3; exits 1', { terminal: '3', exits: 1 }],
    ['run: beside npx league-sync simulate', { beside: 'npx league-sync simulate' }],
    ['run: after a b; after c; answers y; answers n', { after: ['a b', 'c'], answers: ['y', 'n'] }],
    ['run: 8358 is the process in terminal 2', { process: { number: '8358', terminal: '2' } }],
  ])('"%s"', (words, mark) => expect(readMark(words)).toEqual({ ...PLAIN, ...mark }));

  it.each([
    'run:',
    'run: ',
    'not run:',
    'run: exits one',
    'run: in terminal two',
    'run: in terminal 3, exits 1',
    'run: exits 1; ',
    'run: slowly',
    'run: exits 1; slowly',
    'among the lines of terminal',
  ])('"%s" mean nothing', (words) => expect(readMark(words)).toBeUndefined());
});
