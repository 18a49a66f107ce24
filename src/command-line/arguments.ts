import { InvalidArgumentError } from 'commander';
import type { FeedStart } from '../store/queries/feed.ts';
import { formatTimestamp, parseTimestamp, systemClock } from '../time/clock.ts';
import { parseDuration } from '../time/duration.ts';

// Parsers of arguments and options. They throw an InvalidArgumentError that says what to write.

export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError('Write a duration such as 500ms, 30s or 5m.');
  return ms;
}

export function readPath(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Write the path of a file.');
  return text.trim();
}

export function readStart(text: string): FeedStart {
  if (/^\d+$/.test(text)) return { afterSeq: Number(text) };
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return { sinceAt: formatTimestamp(systemClock.now() - agoMs) };
  const timestamp = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  if (timestamp === undefined)
    throw new InvalidArgumentError(
      'Write a change number (seq), a date such as 2026-11-20, 2026-11-20T12:00:00Z, or a duration ago such as 2d.',
    );
  return { sinceAt: formatTimestamp(timestamp) };
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Write a whole number from 1.');
  return Number(text);
}

export function readInterval(text: string): number {
  const ms = readDuration(text);
  // A longer interval overflows the timer of setInterval.
  if (ms >= 2 ** 31) throw new InvalidArgumentError('Write a duration of at most 24d.');
  return ms;
}

export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Write a port from 0 to 65535.');
  return Number(text);
}
