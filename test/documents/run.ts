import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { copyInstalled, fetchBy, makeClone, newcomer, readDocuments, withRegistry } from './clone.ts';
import { isFetching, withoutComment } from './command.ts';
import { type Document, readDocument, type Step } from './markdown.ts';
import { lookUp } from './named.ts';
import { createRehearsal, isOfFaults, sectionAt } from './rehearsal.ts';
import { createReport, type Report } from './report.ts';
import { faultOfReason } from './ring.ts';
import { openRoom } from './room.ts';
import { openSession, type Session } from './session.ts';
import { linesOf, missingFrom } from './shape.ts';

// Runs what the documents of HEAD tell their readers to run: `run.ts WORK_FOLDER [DOCUMENT…]`; run.sh calls it.

const INSTALL_LIMIT_MS = 300_000;

const project = join(import.meta.dirname, '../..');
const [work = '', ...chosen] = process.argv.slice(2);
const home = join(work, 'home');
mkdirSync(home);
const env = newcomer(home);
const fetching = withRegistry(env);

const installed = makeClone(project, join(work, 'installed'));
// Meanwhile whoever follows the README installs for himself.
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
  for (const { line, text } of document.faults) report.fail(line, 'the comment', [text]);
  try {
    if (document.steps.some(({ kind }) => kind !== 'heading')) await follow(document, report);
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

/** What is only named, or not run, has at least to be there. */
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
  const session = openSession({ clone, env, fetching, room, report });
  let rehearsal: ReturnType<typeof createRehearsal> | undefined;
  let inSection = false;
  for (const step of document.steps) {
    const section = sectionAt(document, step);
    if (step.kind === 'heading') inSection = section !== undefined;
    if (section !== undefined) {
      rehearsal ??= createRehearsal({ document, session, clone, report });
      await rehearsal.play(section);
    } else if (step.kind === 'commands') {
      if (step.mark.reason === undefined) await session.run(step);
      else leave(step, { clone, report, file: document.file });
    } else if (step.kind === 'output' && !(inSection && isOfFaults(step))) {
      lookAtOutput(step, session, { clone, report, file: document.file });
    }
  }
  await rehearsal?.recover();
  await session.end();
}

/** Whether the document is for somebody who has a clone and nothing else. */
function installsItself({ steps }: Document): boolean {
  return steps.some(
    (step) =>
      step.kind === 'commands' && step.mark.reason === undefined && step.commands.some(({ text }) => isFetching(text)),
  );
}

function leave({ line, mark }: Extract<Step, { kind: 'commands' }>, { clone, report, file }: Place): void {
  const reason = mark.reason ?? '';
  const fault = faultOfReason(reason, file, clone);
  if (fault === undefined) report.leave(line, reason);
  else report.fail(line, `not run: ${reason}`, [fault]);
}

type Place = { readonly clone: string; readonly report: Report; readonly file: string };

function lookAtOutput(step: Extract<Step, { kind: 'output' }>, session: Session, { clone, report }: Place): void {
  const { line, lines, mark } = step;
  if (mark.reason !== undefined) {
    report.leave(line, mark.reason);
  } else if (mark.amongLinesOf === undefined) {
    report.fail(line, 'the output', ['no command stands before it, and no comment says where it comes from']);
  } else {
    const printed = linesOf(session.terminal(mark.amongLinesOf).screen());
    const why = missingFrom(printed, lines, clone).map((one) => `not printed: ${one}`);
    const what = `${lines.length} lines are among those of terminal ${mark.amongLinesOf}`;
    if (why.length === 0) report.pass(line, what);
    else report.fail(line, what, why);
  }
}
