import { describe, expect, it } from 'vitest';
import { rowsJson, storableJson } from '../../src/mirror/row-json.ts';

describe('JSON for PostgreSQL', () => {
  it.each([
    ['{"a":"\\u0000"}', '{"a":"\\ufffd"}'],
    ['{"a\\u0000":"\\\\u0000"}', '{"a\\ufffd":"\\\\u0000"}'],
    ['["\\ud800","\\uDC00x","\\ud83d\\ude00","\\\\\\ud800"]', '["\\ufffd","\\ufffdx","\\ud83d\\ude00","\\\\\\ufffd"]'],
    ['[1e131071,1e131072,-1.5E+200000]', '[1e131071,"1e131072","-1.5E+200000"]'],
    ['[1e-16383,1e-16384,10e-16384,0.5e-16383]', '[1e-16383,"1e-16384","10e-16384","0.5e-16383"]'],
    ['["1e999999",{"1e999999":1e999999}]', '["1e999999",{"1e999999":"1e999999"}]'],
    ['[12345678901234567890,0.1,1e400]', '[12345678901234567890,0.1,1e400]'],
  ])('of %s is %s', (json, expected) => {
    expect(storableJson(json)).toBe(expected);
  });

  it('takes a string of any length with any number of escapes', () => {
    const text = '\\n'.repeat(6_000_000);
    expect(storableJson(`["${text}1e9999",1e999999]`)).toBe(`["${text}1e9999","1e999999"]`);
  });

  it('replaces what texts cannot hold, and keeps a null of JSON apart from NULL', () => {
    const rows = [{ id: 1, name: 'a\0b\ud800', raw: 'null', ok: 1, none: null }];
    const columns = [
      { name: 'id', type: 'integer' },
      { name: 'name', type: 'text' },
      { name: 'raw', type: 'json' },
      { name: 'ok', type: 'boolean' },
      { name: 'none', type: 'json' },
    ] as const;
    expect(rowsJson(rows, columns, 'string')).toBe(
      '[{"id":1,"name":"a\ufffdb\ufffd","raw":"null","ok":true,"none":null}]',
    );
  });
});
