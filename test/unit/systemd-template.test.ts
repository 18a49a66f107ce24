import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** A unit without its comment at the top and, for a template, with the paths and names of the plain one. */
function linesOf(file: string): readonly string[] {
  const [, ...sections] = readFileSync(file, 'utf8').split('\n\n');
  const plain = sections.join('\n\n').replaceAll('/%i', '').replaceAll('@%i', '').replace(' (%i)', '');
  return plain.split('\n');
}

it('the template league-sync@.service restricts its workers as league-sync.service does', () => {
  const template = linesOf('deploy/league-sync@.service');
  expect(template).toContain('ProtectSystem=strict');
  expect(template).toEqual(linesOf('deploy/league-sync.service'));
});

it('each worker of the template has a database, settings and secrets of its own', () => {
  const template = readFileSync('deploy/league-sync@.service', 'utf8').split('\n');
  const shared = template.filter(
    (line) => /\/(?:var\/lib|etc)\//.test(line) && !line.includes('/%i/') && !line.endsWith('/%i'),
  );
  expect(shared).toEqual([]);
});
