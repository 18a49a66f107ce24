import { execFileSync } from 'node:child_process';

/** The end-to-end tests run the program as it ships, so it is built from the present source first. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.ts'], { stdio: 'inherit' });
}
