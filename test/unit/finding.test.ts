import { describe, expect, it } from 'vitest';
import { explain, splitMend } from '../../src/check/finding.ts';
import { StatusError } from '../../src/errors.ts';

const OTHER = 'do something';

describe('a message', () => {
  it.each([
    ['It is broken; mend it.', 'It is broken', 'mend it'],
    ['It is broken (a; b); mend it.', 'It is broken (a; b)', 'mend it'],
    ['It is broken; mend it (ECODE_1).', 'It is broken (ECODE_1)', 'mend it'],
    ['It is broken (ECODE_1); mend it.', 'It is broken (ECODE_1)', 'mend it'],
    ['It is broken.', 'It is broken', OTHER],
    ['It was refused; is it running there? (ECODE_1).', 'It was refused; is it running there? (ECODE_1)', OTHER],
    ['Status 503. It says: "Down; try later".', 'Status 503. It says: "Down; try later".', OTHER],
    ['Refused; check it. It says: "No; never".', 'Refused. It says: "No; never".', 'check it'],
  ])('"%s" is told in two parts', (text, message, mend) => {
    expect(splitMend(text, OTHER)).toEqual({ message, mend });
  });
});

describe('an error', () => {
  it('that the program foresees is explained', () => {
    expect(explain(new StatusError(true, 'Status 503.'), OTHER)).toEqual({ message: 'Status 503', mend: OTHER });
  });

  it('that nobody foresaw is thrown on', () => {
    expect(() => explain(new TypeError('x is no function'), OTHER)).toThrow(TypeError);
  });
});
