/** The database that advised commands are about. */
export type AdvisedDatabase = {
  /** Its path, if a command must name it. */
  readonly option?: string | undefined;
  /** Whether a demo made the database, and no worker has written to it since. */
  readonly isDemo?: boolean;
};

/** What decides how a command is typed. */
type Surroundings = AdvisedDatabase & {
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const WITH_OPTION = 'accept-removals|backup|changes|mirror(?: rebuild)?|poll|query|status|webhook (?:replay|skip)';
const WITH_SETTING = 'check|profile|run|sync';
const OTHERS = '--help|demo|simulate|verify|webhook(?: test)?';
const COMMAND = new RegExp(
  `(?<![\\w/.-])(league-sync (?:${WITH_OPTION}|${WITH_SETTING}|${OTHERS})(?![\\w-])(?: --[a-z-]+(?: \\d(?:[\\w:.-]*\\w)?)?)*)`,
);
/** How a worker is started; a demo has one of its own. */
const START = /league-sync run(?:,? or (?:poll once with )?league-sync sync)?(?![\w-])/g;

/** Writes commands as they must be typed where the program was started, and for the database named. Do so once. */
export function writeAsTyped(text: string, surroundings: Surroundings): string {
  return splitCommands(text, surroundings).join('');
}

/** The same in parts, of which every second one is a command. */
export function splitCommands(text: string, surroundings: Surroundings): readonly string[] {
  const adapted = surroundings.isDemo ? text.replaceAll(START, 'league-sync demo') : text;
  return adapted.split(COMMAND).map((part, index) => (index % 2 === 0 ? part : typeCommand(part, surroundings)));
}

function typeCommand(command: string, { environment, option }: Surroundings): string {
  const { STARTED_AS: started, npm_execpath: npm } = environment;
  const program = started === undefined ? `${npm === undefined ? '' : 'npx '}league-sync` : quote(started);
  const typed = (words: string): string => words.replace('league-sync', () => program);
  if (option === undefined) return typed(command);
  const path = quote(option);
  if (new RegExp(`^league-sync (?:${WITH_SETTING})\\b`).test(command))
    return `LEAGUE_SYNC_DATABASE=${path} ${typed(command)}`;
  return typed(
    command.replace(new RegExp(`^league-sync (?:${WITH_OPTION})`), (words) => `${words} --database ${path}`),
  );
}

/** As a shell reads it as one word. */
function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
