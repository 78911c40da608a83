/**
 * Validates the fields of one draft. Each reader returns the value, or null when none was sent, and notes the first
 * problem of the item; an item with a problem is not kept at all.
 */

import {
  hasLongKey,
  KEY_BYTES_MAX,
  LONG_KEY_REASON,
  nestsDeeperThan,
  truncateStrings,
} from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { holdsTooWide, TOO_WIDE_REASON } from '../../../json/wide-json.ts';
import { secondsReason } from '../../reasons.ts';
import { hasMoreCharactersThan, surelyFitsEachString, truncateToBytes } from '../../text-limits.ts';
import { ID_CHARACTERS_MAX, isValidId } from '../trace-ids.ts';
import { type DraftFacts, isUnreadable, type Sent } from './collector-draft.ts';
import { smallerUnitHint } from './instant-hints.ts';

export type CollectorLimits = {
  /** Of one request. */
  readonly spansMax: number;
  /** Of a trace, over all its requests. */
  readonly spansPerTraceMax: number;
  readonly evaluationsMax: number;
  readonly stringMaxBytes: number;
  readonly freeJsonDepthMax: number;
  readonly futureMaxMs: number;
};

/** State that the readers of one trace share, and the results of the current item. */
export type Reading = {
  readonly limits: CollectorLimits;
  readonly facts: DraftFacts;
  readonly receivedAtMs: number;
  readonly traceId: string;
  /** Items of the whole request that are stored larger than they were sent. */
  readonly grown: { items: number };
  /** The JSON texts of large values of the item, written ahead in steps. */
  written: ReadonlyMap<LosslessJson, string> | null;
  /** The first problem of the item, with the path inside it; null while there is none. */
  problem: string | null;
  /** Number of cut strings of the item. */
  cuts: number;
  /** A field left out of a kept item, with the path inside it and the reason; null while there is none. */
  omitted: string | null;
};

type ReadingOptions = Pick<Reading, 'limits' | 'facts' | 'receivedAtMs' | 'traceId'> & Partial<Pick<Reading, 'grown'>>;

export const SHORT_TEXT_CHARACTERS_MAX = 512;

const EARLIEST_MS = 946_684_800_000;
const SURELY_SECONDS = 100_000_000_000;
const MS_PER_HOUR = 3_600_000;
const COUNT_MAX = 1e12;
const USD_MAX = 9_007_199;
/** Three bytes of a request may become eighty. */
const GROWN_ITEMS_MAX = 100_000;

/** `grown` is shared by the traces of a request. */
export function createReading({ grown = { items: 0 }, ...options }: ReadingOptions): Reading {
  return { ...options, grown, written: null, problem: null, cuts: 0, omitted: null };
}

/** Starts the next item. */
export function beginItem(reading: Reading): void {
  reading.problem = null;
  reading.cuts = 0;
  reading.omitted = null;
}

/** Notes a problem, unless the item has one already. An empty field means the item as a whole. */
export function refuse(reading: Reading, field: string, reason: string): null {
  reading.problem ??= field === '' ? `: ${reason}` : `.${field}: ${reason}`;
  return null;
}

/** Counts items that are stored larger than they are sent. False where there are too many: then the item is refused. */
export function countGrown(items: number, field: string, reading: Reading): boolean {
  if (reading.grown.items + items <= GROWN_ITEMS_MAX) {
    reading.grown.items += items;
    return true;
  }
  refuse(reading, field, `must have at most ${GROWN_ITEMS_MAX} items, with those of the other spans of the request`);
  return false;
}

export function readScalar<T extends boolean | number>(sent: Sent<T>, reading: Reading): T | null {
  if (sent === undefined) return null;
  return isUnreadable(sent) ? refuse(reading, sent.path, sent.reason) : sent;
}

/** A token count: a whole number, fractions rounded half up. */
export function readCount(sent: Sent<number>, field: string, reading: Reading): number | null {
  const count = readScalar(sent, reading);
  if (count === null) return null;
  if (count < 0 || count > COUNT_MAX) return refuse(reading, field, `must be a number from 0 to ${COUNT_MAX}`);
  return roundHalfUp(count);
}

export function readUsd(sent: Sent<number>, field: string, reading: Reading): number | null {
  const usd = readScalar(sent, reading);
  if (usd === null) return null;
  return usd < 0 || usd > USD_MAX ? refuse(reading, field, `must be a number from 0 to ${USD_MAX}`) : usd + 0;
}

/** Whole epoch milliseconds, fractions rounded half up, between 2000 and the near future. */
export function readInstant(sent: Sent<number>, field: string, reading: Reading): number | null {
  const instantMs = readScalar(sent, reading);
  if (instantMs === null) return null;
  if (instantMs < SURELY_SECONDS) {
    return refuse(reading, field, secondsReason(instantMs));
  }
  if (instantMs < EARLIEST_MS) return refuse(reading, field, 'is before 2000-01-01');
  const { futureMaxMs } = reading.limits;
  if (instantMs > reading.receivedAtMs + futureMaxMs) {
    const reason = `is more than ${spellDuration(futureMaxMs)} in the future${smallerUnitHint(instantMs)}`;
    return refuse(reading, field, reason);
  }
  return roundHalfUp(instantMs);
}

/** Any string, cut to the limit of a single string. */
export function readText(sent: Sent<string>, reading: Reading): string | null {
  if (sent === undefined) return null;
  return typeof sent === 'string' ? cleanText(sent, reading) : refuse(reading, sent.path, sent.reason);
}

/** A string of at most 512 characters. */
export function readShortText(sent: Sent<string>, field: string, reading: Reading): string | null {
  const text = readText(sent, reading);
  if (text === null || !hasMoreCharactersThan(text, SHORT_TEXT_CHARACTERS_MAX)) return text;
  return refuse(reading, field, `must be a string of at most ${SHORT_TEXT_CHARACTERS_MAX} characters`);
}

/** An id of a span. It is not tidied first: a control character must be refused, not replaced. */
export function readId(sent: Sent<string>, field: string, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (typeof sent === 'string' && isValidId(sent)) return sent;
  return refuse(reading, field, `must be a string of 1 to ${ID_CHARACTERS_MAX} characters`);
}

/** A string outside free JSON: databases refuse U+0000 in text, and one string must not fill the store. */
export function cleanText(text: string, reading: Reading): string {
  const clean = reading.facts.hasEscapes ? text.replaceAll('\0', '\ufffd') : text;
  if (reading.facts.bytes <= reading.limits.stringMaxBytes) return clean;
  const kept = truncateToBytes(clean, reading.limits.stringMaxBytes);
  if (kept !== clean) reading.cuts += 1;
  return kept;
}

/** Compact JSON text of a value; null when none was sent or it is refused. */
export function readFreeJson(sent: Sent<LosslessJson>, field: string, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (isUnreadable(sent)) return refuse(reading, sent.path, sent.reason);
  const { facts } = reading;
  if (facts.hasWide && holdsTooWide(sent)) return refuse(reading, field, TOO_WIDE_REASON);
  const { freeJsonDepthMax, stringMaxBytes } = reading.limits;
  if (facts.depth > freeJsonDepthMax && nestsDeeperThan(sent, freeJsonDepthMax)) {
    return refuse(reading, field, `nested deeper than ${freeJsonDepthMax} levels`);
  }
  const text = reading.written?.get(sent) ?? JSON.stringify(sent);
  // Most values cannot exceed the limits, so they are never walked.
  if (facts.bytes > KEY_BYTES_MAX && !surelyFitsEachString(text, KEY_BYTES_MAX) && hasLongKey(sent)) {
    return refuse(reading, field, LONG_KEY_REASON);
  }
  if (facts.bytes <= stringMaxBytes || surelyFitsEachString(text, stringMaxBytes)) return text;
  const truncated = truncateStrings(sent, stringMaxBytes);
  reading.cuts += truncated.cuts;
  return truncated.cuts === 0 ? text : JSON.stringify(truncated.value);
}

function spellDuration(durationMs: number): string {
  return durationMs % MS_PER_HOUR === 0 ? `${durationMs / MS_PER_HOUR} hours` : `${durationMs} ms`;
}

// Adding 0 turns -0 into 0.
function roundHalfUp(value: number): number {
  return Math.round(value) + 0;
}
