import type { AdvisedDatabase } from '../commands/command.ts';

type Surroundings = AdvisedDatabase & {
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const WITH_OPTION = 'accept-removals|backup|changes|mirror|poll|query|status|webhook (?:replay|skip)';
const WITH_SETTING = 'check|profile|run|sync';
const OTHERS = '--help|demo|simulate|verify|webhook';
/** None that is written so already, also where a line ends in it. */
const ADVICE = new RegExp(
  `(?<!npx |[\\w/.-]|LEAGUE_SYNC_DATABASE=(?:'[^']*'|\\S+)\\s+)league-sync (?:(${WITH_OPTION})|(${WITH_SETTING})|(${OTHERS}))(?![\\w-]|\\s+--database)`,
  'g',
);
/** How a worker is started; a demo has one of its own. */
const START = /league-sync run(?:,? or (?:poll once with )?league-sync sync)?(?![\w-])/g;

/** Writes commands as they must be typed where the program was started, and for the database named. */
export function writeAsTyped(message: string, surroundings: Surroundings): string {
  const adapted = surroundings.isDemo ? message.replaceAll(START, 'league-sync demo') : message;
  return adapted.replaceAll(ADVICE, (_, named, set, other) => typeCommand({ named, set, other }, surroundings));
}

type Advised = { readonly named?: string; readonly set?: string; readonly other?: string };

function typeCommand({ named, set, other }: Advised, { environment, option }: Surroundings): string {
  const { STARTED_AS: started, npm_execpath: npm } = environment;
  const program = started === undefined ? `${npm === undefined ? '' : 'npx '}league-sync` : quote(started);
  const typed = `${program} ${named ?? set ?? other}`;
  if (option === undefined || other !== undefined) return typed;
  const path = quote(option);
  return named === undefined ? `LEAGUE_SYNC_DATABASE=${path} ${typed}` : `${typed} --database ${path}`;
}

function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
