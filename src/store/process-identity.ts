import { readFileSync, readlinkSync } from 'node:fs';

/**
 * What tells a process from others with the same id: those of other machines and containers, and those that get the id
 * later.
 */
export type ProcessIdentity = {
  /** Of the machine since it was started. */
  readonly bootId: string;
  readonly pidNamespace: string;
  /** When the process started, in ticks since the boot. */
  readonly startTime: string;
};

/** A process of this PID namespace; undefined if there is none with this id, and on other systems than Linux. */
export function identifyProcess(pid: number | 'self'): ProcessIdentity | undefined {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const pidNamespace = readlinkSync('/proc/self/ns/pid');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may have spaces and parentheses. The start time is field 22.
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return startTime === undefined ? undefined : { bootId, pidNamespace, startTime };
  } catch {
    return undefined;
  }
}

export function isSameNamespace(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.bootId === other.bootId && one.pidNamespace === other.pidNamespace;
}

export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return isSameNamespace(one, other) && one.startTime === other.startTime;
}
