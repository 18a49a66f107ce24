import { describeLeague } from '../store/change-words.ts';
import { type ChangedPoll, KINDS, readPolls } from '../store/queries/changed-polls.ts';
import { readBatch, readSeqs } from '../store/queries/feed.ts';
import type { Monitor, Read } from './worker-state.ts';

const MOST_ENTRIES = 30;
/** An entry names so many changes, and counts the others. */
const MOST_NAMED = 20;
const LIMITS = { limit: MOST_NAMED, maxChars: 1_000_000 };

type Database = Parameters<Parameters<Read>[0]>[0];

/** The newest polls that changed something, for feed readers (RFC 4287). Links are relative to the address of the feed. */
export function renderAtom(db: Database, { source, as_of }: ReturnType<Monitor['provenance']>): string {
  const polls = readPolls(db, {}, { maxChanges: MOST_ENTRIES, foldAbove: 0 }).polls.slice(0, MOST_ENTRIES);
  const id = `urn:league-sync:${source ?? 'unknown'}`;
  const updated = polls[0]?.at ?? as_of ?? new Date(0).toISOString();
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${id}</id>
<title>Changes of leagues</title>
<updated>${updated}</updated>
<author><name>league-sync</name></author>
<link rel="self" type="application/atom+xml" href="changes.atom"/>
<link rel="alternate" type="text/html" href="changes"/>
${polls.map((poll) => renderEntry(db, poll, id)).join('\n')}
</feed>
`;
}

function renderEntry(db: Database, poll: ChangedPoll, feedId: string): string {
  const { entries, more } = readBatch(db, readSeqs(db, poll.at), LIMITS);
  const lines = entries.map((change) => `${change.kind}  ${describeLeague(change)}`);
  const total = KINDS.reduce((sum, kind) => sum + poll[kind], 0);
  const text = [...lines, ...(more ? [`and ${total - entries.length} more`] : [])].join('\n');
  const counts = KINDS.filter((kind) => poll[kind] > 0).map((kind) => `${poll[kind]} ${kind}`);
  return `<entry>
<id>${feedId}:${poll.id}</id>
<title>${counts.join(', ')}</title>
<updated>${poll.at}</updated>
<link rel="alternate" type="text/html" href="changes?day=${poll.at.slice(0, 10)}"/>
<content type="text">${escapeXml(text)}</content>
</entry>`;
}

/** XML 1.0 has no characters for most controls, which the text has escaped, and none for these two. */
function escapeXml(text: string): string {
  const escaped = text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
  return escaped.replace(/[\ufffe\uffff]/g, '\ufffd');
}
