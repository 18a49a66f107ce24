import { type Attempt, type Conduct, isSigned } from './receiver.ts';

const MAX_CHANGES = 100;
const MAX_BYTES = 65_536;
const RETRY_AFTER_MS = 1_000;
/** Clocks of two processes are compared, in whole milliseconds. */
const TOLERANCE_MS = 5;
const MOST_OFF_S = 30;

type Data = {
  readonly source: string;
  readonly since?: string;
  readonly from_seq?: number;
  readonly to_seq?: number;
  readonly changes?: readonly { readonly seq: number }[];
};

/** A message at its first arrival. */
export type Message = { readonly id: string; readonly text: string; readonly type: string; readonly data: Data };

export type Judgement = {
  readonly problems: readonly string[];
  /** In the order of first arrival. */
  readonly messages: readonly Message[];
  /** Messages that came again although they had been answered with 2xx: the process was killed in between. */
  readonly repeatedAfterKill: number;
  readonly conducts: ReadonlyMap<Conduct, number>;
};

/** Judges all that has arrived. */
export function judgeAttempts(attempts: readonly Attempt[]): Judgement {
  const problems: string[] = [];
  const messages: Message[] = [];
  const known = new Map<string, Message>();
  const conducts = new Map<Conduct, number>();
  const accepted = new Map<string, number>();
  const repeated = new Set<string>();
  let lastSeq = 0;
  let before: Attempt | undefined;
  for (const attempt of attempts) {
    const { id, life, conduct, body } = attempt;
    conducts.set(conduct, (conducts.get(conduct) ?? 0) + 1);
    problems.push(...judgePace(attempt, before));
    before = attempt;
    if (body === undefined) continue;
    problems.push(...judgeHeaders(attempt));
    const text = body.toString();
    const first = known.get(id);
    if (first === undefined) {
      const message = { id, text, ...(JSON.parse(text) as Pick<Message, 'type' | 'data'>) };
      problems.push(...judgeMessage(message, lastSeq, body.length));
      lastSeq = message.data.to_seq ?? lastSeq;
      known.set(id, message);
      messages.push(message);
    } else {
      if (first.text !== text) problems.push(`${id} came again with other bytes`);
      if (messages.at(-1) !== first) problems.push(`${id} came again after a later message`);
      if (accepted.get(id) === life) problems.push(`${id} came again after the same process had got a 2xx`);
      else if (accepted.has(id)) repeated.add(id);
    }
    if (conduct === 'accepted') accepted.set(id, life);
  }
  return { problems: [...problems, ...judgeStates(messages)], messages, repeatedAfterKill: repeated.size, conducts };
}

/** Nothing may be sent during a `Retry-After`; a process that was killed may not have stored it. */
function judgePace({ life, at }: Attempt, before: Attempt | undefined): readonly string[] {
  if (before?.conduct !== 'limited' || before.life !== life) return [];
  const afterMs = at - before.at;
  return afterMs >= RETRY_AFTER_MS - TOLERANCE_MS ? [] : [`an attempt ${afterMs} ms after a Retry-After of 1 s`];
}

function judgeHeaders(attempt: Attempt): readonly string[] {
  const { id, headers } = attempt;
  const offS = Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000);
  // `Date.now()` is that of the judgement, which comes after the last attempt.
  const isRecent = Number.isFinite(offS) && offS < (performance.now() - attempt.at) / 1_000 + MOST_OFF_S;
  return [
    ...(isSigned(attempt) ? [] : [`the signature of ${id} is wrong`]),
    ...(isRecent ? [] : [`the timestamp of ${id} is ${headers['webhook-timestamp']}`]),
    ...(headers['content-type'] === 'application/json' ? [] : [`the content type of ${id} is wrong`]),
  ];
}

function judgeMessage({ id, type, data }: Message, lastSeq: number, bytes: number): readonly string[] {
  if (type !== 'leagues.changed') return [];
  const { from_seq = Number.NaN, to_seq = Number.NaN, changes = [] } = data;
  const what = `${id} (${from_seq} to ${to_seq})`;
  const isWhole =
    changes.length === to_seq - from_seq + 1 && changes.every(({ seq }, index) => seq === from_seq + index);
  return [
    ...(from_seq === lastSeq + 1 ? [] : [`${what} came after ${lastSeq}`]),
    ...(isWhole ? [] : [`${what} has other changes than it says`]),
    ...(changes.length >= 1 && changes.length <= MAX_CHANGES ? [] : [`${what} has ${changes.length} changes`]),
    ...(bytes <= MAX_BYTES || changes.length === 1 ? [] : [`${what} has ${bytes} bytes`]),
  ];
}

/** A state that has begun at one instant is one message, unless more removals are held than before. */
function judgeStates(messages: readonly Message[]): readonly string[] {
  const states = messages.filter(({ type }) => type !== 'leagues.changed' && type !== 'removals.held');
  const names = states.map(({ type, data }) => `${type} since ${data.since}`);
  return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name} was told twice`);
}

/** Compares the messages with what `changes --since … --json` prints, byte for byte. */
export function judgeContents(messages: readonly Message[], lines: readonly string[]): readonly string[] {
  const problems: string[] = [];
  let index = 0;
  for (const { id, type, text, data } of messages) {
    if (type !== 'leagues.changed') continue;
    const { source, from_seq: from = 0, to_seq: to = 0, changes = [] } = data;
    const expected = lines.slice(index, index + changes.length);
    index += changes.length;
    const { at } = JSON.parse(expected.at(-1) ?? '{}') as { at?: string };
    const body = `{"type":"${type}","timestamp":"${at}","data":{"source":"${source}","from_seq":${from},"to_seq":${to},"changes":[${expected.join(',')}]}}`;
    if (body !== text) problems.push(`${id} (${from} to ${to}) differs from the feed`);
  }
  return index === lines.length ? problems : [...problems, `${index} of ${lines.length} changes arrived`];
}
