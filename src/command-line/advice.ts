import { stripVTControlCharacters } from 'node:util';
import type { AdvisedDatabase } from '../commands/command.ts';

type Surroundings = AdvisedDatabase & {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly columns?: number | undefined;
};

const WITH_OPTION = 'accept-removals|backup|changes|mirror|poll|query|status|webhook (?:replay|skip)';
const WITH_SETTING = 'check|profile|run|sync';
const OTHERS = '--help|demo|simulate|verify|webhook';
const ADVICE = new RegExp(
  `(?<!npx |[\\w/.-])league-sync (?:(${WITH_OPTION})|(${WITH_SETTING})|(${OTHERS}))(?![\\w-])`,
  'g',
);
/** How a worker is started; a demo has one of its own. */
const START = /league-sync run(?:,? or (?:poll once with )?league-sync sync)?(?![\w-])/g;

/** Writes commands as they must be typed: with npx in a checkout, and for the database named. Long lines are broken. */
export function writeAsTyped(message: string, surroundings: Surroundings): string {
  const { isDemo = false, columns = Number.POSITIVE_INFINITY } = surroundings;
  const adapted = isDemo ? message.replaceAll(START, 'league-sync demo') : message;
  return adapted.replaceAll(/^.*league-sync .*$/gm, (line) => {
    const typed = line.replaceAll(ADVICE, (_, named, set, other) => {
      return `\0${typeCommand({ named, set, other }, surroundings)}`;
    });
    const whole = typed.replaceAll('\0', '');
    const plain = stripVTControlCharacters(whole);
    if (whole === line || plain.length <= columns) return whole;
    const [indent = ''] = /^(?:[^\w\s]? )*/.exec(plain) ?? [];
    const begun = /^\s*\0/.test(stripVTControlCharacters(typed)) ? typed.replace('\0', '') : typed;
    return begun.replaceAll(/ ?\0/g, `\n${' '.repeat(indent.length)}`);
  });
}

type Advised = { readonly named?: string; readonly set?: string; readonly other?: string };

function typeCommand({ named, set, other }: Advised, { environment, option }: Surroundings): string {
  const program = environment.npm_execpath === undefined ? 'league-sync' : 'npx league-sync';
  const typed = `${program} ${named ?? set ?? other}`;
  if (option === undefined || other !== undefined) return typed;
  const path = /^[\w./-]+$/.test(option) ? option : `'${option.replaceAll("'", "'\\''")}'`;
  return named === undefined ? `LEAGUE_SYNC_DATABASE=${path} ${typed}` : `${typed} --database ${path}`;
}
