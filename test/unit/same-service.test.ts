import { describe, expect, it } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { assertSameService } from '../../src/sync/same-service.ts';

const OWNER = 'http://service.example/v9';

describe('a database is refused', () => {
  it.each([
    ['another host', 'http://other.example/v9', true],
    ['another path', 'http://service.example/v10', true],
    ['another port', 'http://service.example:8080/v9', true],
    ['the same', OWNER, false],
    ['https, where it was http', 'https://service.example/v9', false],
  ])('for %s: %s %s', (_, baseUrl, isRefused) => {
    const assert = () => assertSameService('a.db', OWNER, baseUrl);
    if (isRefused) expect(assert).toThrow(SettingsError);
    else expect(assert).not.toThrow();
  });

  it('for none before its first good poll', () => {
    expect(() => assertSameService('a.db', null, OWNER)).not.toThrow();
  });
});
