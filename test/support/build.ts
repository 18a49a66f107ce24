import { execFileSync } from 'node:child_process';

/** Builds the program from the current source, since the end-to-end tests run it as it ships. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.ts'], { stdio: 'inherit' });
}
