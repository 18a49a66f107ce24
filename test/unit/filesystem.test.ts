import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { networkFileSystemOf } from '../../src/store/disk.ts';

describe.runIf(process.platform === 'linux')('the file system of a folder', () => {
  it.each([
    [0x6969, 'NFS'],
    // Node reads the number as a signed one on some machines.
    [0xff534d42, 'CIFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0x65735546, 'FUSE'],
    [0xef53, undefined],
    [0x01021994, undefined],
    [0x9123683e, undefined],
  ])('of type %i is the network one: %s', (type, name) => {
    expect(networkFileSystemOf('/anywhere', () => type)).toBe(name);
  });

  it('is none of a network for a temporary folder', () => {
    expect(networkFileSystemOf(tmpdir())).toBeUndefined();
  });

  it('that cannot be asked for is not told of', () => {
    expect(networkFileSystemOf('/nowhere/at/all')).toBeUndefined();
  });
});
