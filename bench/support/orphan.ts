/** Has a process that this one started end with it, whatever ends this one but SIGKILL. To be disposed of once it has ended. */
export function leaveNoOrphan(kill: () => void): Disposable {
  // Ahead of all else that is done at the exit: what still runs would write into folders that are being removed.
  process.prependOnceListener('exit', kill);
  return {
    [Symbol.dispose]: () => {
      process.off('exit', kill);
    },
  };
}
