import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The helper that test scripts use to take commands from a document; its arguments name the document. */
const SHARED = 'test/install/page.sh';

/**
 * The error in a reason for skipping a block: a test file that does not exist, or a script that is said to run the
 * block (`by test/deploy`) but does not compare this document.
 */
export function faultOfReason(reason: string, file: string, clone: string): string | undefined {
  const missing = [...reason.matchAll(/\btest\/[\w./-]*\w/g)].find(([path]) => !existsSync(join(clone, path)));
  if (missing !== undefined) return `there is no ${missing[0]}`;
  const ring = /^by (.+)$/.exec(reason)?.[1];
  if (ring === undefined) return undefined;
  const shared = readFileSync(join(clone, SHARED), 'utf8');
  if (!shared.includes(`\ndocument=${file}\n`)) return `no ring takes commands from ${file}`;
  const scripts = globSync(join(clone, ring, '*.sh')).map((path) => readFileSync(path, 'utf8'));
  const takes = [`/${SHARED}"\n`, '\ncheck_claims\n'];
  if (takes.some((line) => !scripts.some((script) => script.includes(line)))) {
    return `"${ring}" takes no commands from a document, or does not compare them with what it ran`;
  }
  return undefined;
}
