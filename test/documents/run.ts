import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { copyInstalled, fetchBy, makeClone, newcomer, readDocuments, withRegistry } from './clone.ts';
import { isFetching, withoutComment } from './command.ts';
import { type Document, readDocument, type Step } from './markdown.ts';
import { createReader } from './reader.ts';
import { lookUp } from './references.ts';
import { createReport, type Report } from './report.ts';
import { openRoom } from './sandbox.ts';

// Runs what the documents of HEAD tell their readers to run: `run.ts WORK_FOLDER [DOCUMENT…]`; run.sh calls it.

const INSTALL_LIMIT_MS = 300_000;

const project = join(import.meta.dirname, '../..');
const [work = '', ...chosen] = process.argv.slice(2);
const home = join(work, 'home');
mkdirSync(home);
const env = newcomer(home);
const fetching = withRegistry(env);

const installed = makeClone(project, join(work, 'installed'));
// In parallel, the reader of the README makes an installation of their own.
const installing = fetchBy('npm ci', installed, fetching, INSTALL_LIMIT_MS);
const database = join(work, 'schema.db');
execFileSync('cp', [globSync(join(installed, 'test/fixtures/schema-*.db')).sort(bySchema).at(-1) ?? '', database]);

const documents = [...readDocuments(installed)].map(([file, text]) => readDocument(file, text));
const unknown = chosen.filter((file) => !documents.some((document) => document.file === file));
const asked = documents.filter(({ file }) => chosen.length === 0 || chosen.includes(file));
const reports = await Promise.all(asked.map(tryDocument));
const failed = reports.reduce((sum, report) => sum + report.failed(), unknown.length);
for (const file of unknown) console.log(`not ok - ${file}: HEAD has no such document`);
console.log(`${reports.reduce((sum, report) => sum + report.passed(), 0)} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function bySchema(one: string, other: string): number {
  return Number(one.match(/\d+(?=\.db$)/)?.[0]) - Number(other.match(/\d+(?=\.db$)/)?.[0]);
}

async function tryDocument(document: Document): Promise<Report> {
  const report = createReport(document.file);
  for (const { line, text } of document.faults) report.fail(line, 'the block', [text]);
  try {
    if (document.steps.length > 0) await follow(document, report);
    await untilInstalled();
    lookAtNamed(document, report);
  } catch (error) {
    report.fail(1, 'could be followed to its end', [String(error)]);
  }
  if (report.lines().length > 0) console.log(report.lines().join('\n'));
  return report;
}

async function untilInstalled(): Promise<void> {
  const { code, printed } = await installing;
  if (code !== 0) throw new Error(`npm ci failed in a clone of HEAD: ${printed}`);
}

async function makeInstalled(folder: string): Promise<string> {
  await untilInstalled();
  return copyInstalled(project, installed, folder);
}

/** Checks that what is only mentioned, or not run, exists. */
function lookAtNamed({ named, steps }: Document, report: Report): void {
  const left = steps.flatMap((step) =>
    step.kind === 'commands' && step.mark.reason !== undefined ? step.commands : [],
  );
  for (const { line, text } of [...named, ...left]) {
    const command = withoutComment(text);
    const finding = lookUp(command, { clone: installed, database });
    if (finding === 'exists') report.pass(line, `exists: ${command}`);
    else if (finding === 'foreign') report.leave(line, `${command}: not a command of ours`);
    else report.fail(line, `exists: ${command}`, [finding.fault]);
  }
}

async function follow(document: Document, report: Report): Promise<void> {
  const folder = join(work, document.file.replaceAll('/', '_'));
  const clone = installsItself(document) ? makeClone(project, folder) : await makeInstalled(folder);
  await using room = await openRoom();
  const reader = createReader({ clone, env, fetching, room, report });
  for (const step of document.steps) {
    if (step.mark.reason !== undefined) leave(step, clone, report);
    else if (step.kind === 'commands') await reader.run(step);
    else if (step.mark.amongLinesOf !== undefined) await reader.waitFor(step, step.mark.amongLinesOf);
    else report.fail(step.line, 'the output', ['no command stands before it, and no comment says where it comes from']);
  }
  await reader.end();
}

/** Whether the document is for readers who have only a clone. */
function installsItself({ steps }: Document): boolean {
  return steps.some(
    (step) =>
      step.kind === 'commands' && step.mark.reason === undefined && step.commands.some(({ text }) => isFetching(text)),
  );
}

/** A file of the tests that a reason names has to be there. */
function leave({ line, mark: { reason = '' } }: Step, clone: string, report: Report): void {
  const missing = [...reason.matchAll(/\btest\/[\w./-]*\w/g)].find(([path]) => !existsSync(join(clone, path)));
  if (missing === undefined) report.leave(line, reason);
  else report.fail(line, `not run: ${reason}`, [`there is no ${missing[0]}`]);
}
