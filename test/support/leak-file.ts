import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every regular file below the folder, except for core dumps. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) throw new Error(`${folder} was removed before it could be searched for secrets.`);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^core(\.\d+)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Empty if the file cannot be read: a disk may be gone, or the file may belong to another user. */
export function readWhatIsThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
