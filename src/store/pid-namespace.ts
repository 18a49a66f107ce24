import { readFileSync, readlinkSync } from 'node:fs';

/** Tells the processes of this container from those of others, which have the same ids. */
export type PidNamespace = {
  /** Of the machine since it was started. */
  readonly bootId: string;
  readonly pidNamespace: string;
};

/** Undefined on other systems than Linux. */
export function findPidNamespace(): PidNamespace | undefined {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { bootId, pidNamespace: readlinkSync('/proc/self/ns/pid') };
  } catch {
    return undefined;
  }
}
