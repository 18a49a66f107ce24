const COMMANDS =
  '--help|accept-removals|backup|changes|check|demo|mirror|poll|profile|query|run|simulate|status|sync|webhook';
const ADVICE = new RegExp(`(?<!npx |[\\w/.-])league-sync(?= (?:${COMMANDS})\\b)`, 'g');

/**
 * Writes the commands in a message as they must be typed where the program was started: in a checkout, where npm
 * started it, with npx.
 */
export function writeAsTyped(
  message: string,
  { npm_execpath: npm }: Readonly<Record<string, string | undefined>>,
): string {
  return npm === undefined ? message : message.replace(ADVICE, 'npx league-sync');
}
