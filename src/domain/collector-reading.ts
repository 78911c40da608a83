/**
 * Reading the fields of one collected item. Each reader answers the value, or null where the field is
 * absent or null; it notes the first problem of the item, and nothing of an item with a problem is kept.
 */

import {
  hasLongKey,
  isArray,
  isObject,
  KEY_BYTES_MAX,
  LONG_KEY_REASON,
  nestsDeeperThan,
  numberOf,
  scalarText,
  truncateStrings,
  UNREADABLE,
  UNREADABLE_REASON,
} from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import { cutToCharacters, hasMoreCharactersThan, surelyFitsBytes, truncateToBytes } from './text-limits.ts';
import { ID_CHARACTERS_MAX, isValidId } from './trace-ids.ts';
import { findTooWide, holdsTooWide, TOO_WIDE_REASON } from './wide-json.ts';

export type CollectorLimits = {
  /** Of one request. */
  readonly spansMax: number;
  /** Of a trace, however many requests they come in. */
  readonly spansPerTraceMax: number;
  readonly evaluationsMax: number;
  readonly stringMaxBytes: number;
  readonly freeJsonDepthMax: number;
  readonly futureMaxMs: number;
};

/** What one pass over the raw text of a body found out, so that small bodies are spared the deep walks. */
export type CollectFacts = {
  /** Nesting of the whole body. */
  readonly depth: number;
  /** Any \u escape: only they can carry U+0000 or a lone surrogate. */
  readonly hasEscapes: boolean;
  readonly bytes: number;
  /** Any object of too many members, in whose place TOO_WIDE stands. */
  readonly hasWide: boolean;
};

/** What all readers of one request share, and what became of the item that is being read. */
export type Reading = {
  readonly limits: CollectorLimits;
  readonly receivedAtMs: number;
  readonly traceId: string;
  readonly mayNestTooDeep: boolean;
  readonly mayHoldEscapes: boolean;
  readonly mayHoldLongKeys: boolean;
  readonly mayHoldLongStrings: boolean;
  readonly mayHoldWide: boolean;
  /** The first problem of the item, with the path inside it; null while there is none. */
  problem: string | null;
  /** Strings of the item that were cut. */
  cuts: number;
  /** A field that was left out and not its item, with the path inside it and why; null while there is none. */
  leftOut: string | null;
};

export type ReadingOptions = {
  readonly limits: CollectorLimits;
  readonly facts: CollectFacts;
  readonly receivedAtMs: number;
  readonly traceId: string;
};

export const SHORT_TEXT_CHARACTERS_MAX = 512;

const EARLIEST_MS = 946_684_800_000;
const SURELY_SECONDS = 100_000_000_000;
const MS_PER_HOUR = 3_600_000;
const COUNT_MAX = 1e12;
const USD_MAX = 9_007_199;
const SHOWN_NUMBER_CHARACTERS_MAX = 100;

export function createReading({ limits, facts, receivedAtMs, traceId }: ReadingOptions): Reading {
  return {
    limits,
    receivedAtMs,
    traceId,
    mayNestTooDeep: facts.depth > limits.freeJsonDepthMax,
    mayHoldEscapes: facts.hasEscapes,
    mayHoldLongKeys: facts.bytes > KEY_BYTES_MAX,
    mayHoldLongStrings: facts.bytes > limits.stringMaxBytes,
    mayHoldWide: facts.hasWide,
    problem: null,
    cuts: 0,
    leftOut: null,
  };
}

/** Starts the next item. */
export function beginItem(reading: Reading): void {
  reading.problem = null;
  reading.cuts = 0;
  reading.leftOut = null;
}

/** Notes a problem, unless the item has one already. An empty field means the item as a whole. */
export function refuse(reading: Reading, field: string, reason: string): null {
  reading.problem ??= field === '' ? `: ${reason}` : `.${field}: ${reason}`;
  return null;
}

/** Refuses an item that holds an object of too many members, which was left out of the document. */
export function refuseTooWide(item: LosslessJson | undefined, reading: Reading): boolean {
  const member = reading.mayHoldWide ? findTooWide(item) : null;
  if (member === null) return false;
  refuse(reading, member, TOO_WIDE_REASON);
  return true;
}

/** null means absent, in every field. */
export function isAbsent(value: LosslessJson | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function readObject(value: LosslessJson | undefined, field: string, reading: Reading): LosslessObject | null {
  if (isAbsent(value)) return null;
  if (value === UNREADABLE) return refuse(reading, field, UNREADABLE_REASON);
  return isObject(value) ? value : refuse(reading, field, 'must be an object');
}

export function readArray(
  value: LosslessJson | undefined,
  field: string,
  reading: Reading,
): readonly LosslessJson[] | null {
  if (isAbsent(value)) return null;
  return isArray(value) ? value : refuse(reading, field, 'must be an array');
}

export function readBoolean(value: LosslessJson | undefined, field: string, reading: Reading): boolean | null {
  if (isAbsent(value)) return null;
  return typeof value === 'boolean' ? value : refuse(reading, field, 'must be a boolean');
}

export function readNumber(value: LosslessJson | undefined, field: string, reading: Reading): number | null {
  if (isAbsent(value)) return null;
  return numberOf(value) ?? refuse(reading, field, 'must be a number');
}

/** A token count: a whole number, fractions rounded half up. */
export function readCount(value: LosslessJson | undefined, field: string, reading: Reading): number | null {
  const count = readNumber(value, field, reading);
  if (count === null) return null;
  if (count < 0 || count > COUNT_MAX) return refuse(reading, field, `must be a number from 0 to ${COUNT_MAX}`);
  return roundHalfUp(count);
}

export function readUsd(value: LosslessJson | undefined, field: string, reading: Reading): number | null {
  const usd = readNumber(value, field, reading);
  if (usd === null) return null;
  return usd < 0 || usd > USD_MAX ? refuse(reading, field, `must be a number from 0 to ${USD_MAX}`) : usd + 0;
}

/** Whole epoch milliseconds, fractions rounded half up, between 2000 and the near future. */
export function readInstant(value: LosslessJson | undefined, field: string, reading: Reading): number | null {
  const instantMs = readNumber(value, field, reading);
  if (instantMs === null) return null;
  if (instantMs < SURELY_SECONDS) {
    const shown = cutToCharacters(scalarText(value) ?? '', SHOWN_NUMBER_CHARACTERS_MAX);
    const reason = `must be milliseconds since the epoch; ${shown} looks like seconds, multiply by 1000`;
    return refuse(reading, field, reason);
  }
  if (instantMs < EARLIEST_MS) return refuse(reading, field, 'is before 2000-01-01');
  const { futureMaxMs } = reading.limits;
  if (instantMs > reading.receivedAtMs + futureMaxMs) {
    return refuse(reading, field, `is more than ${spellDuration(futureMaxMs)} in the future`);
  }
  return roundHalfUp(instantMs);
}

/** Any string, within the limit of every single string. */
export function readText(value: LosslessJson | undefined, field: string, reading: Reading): string | null {
  if (isAbsent(value)) return null;
  return typeof value === 'string' ? tidyText(value, reading) : refuse(reading, field, 'must be a string');
}

/** A string of at most 512 characters. */
export function readShortText(value: LosslessJson | undefined, field: string, reading: Reading): string | null {
  const text = readText(value, field, reading);
  if (text === null || !hasMoreCharactersThan(text, SHORT_TEXT_CHARACTERS_MAX)) return text;
  return refuse(reading, field, `must be a string of at most ${SHORT_TEXT_CHARACTERS_MAX} characters`);
}

/** An id of a span. It is not tidied first: a control character must be refused, not replaced. */
export function readId(value: LosslessJson | undefined, field: string, reading: Reading): string | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'string' && isValidId(value)) return value;
  return refuse(reading, field, `must be a string of 1 to ${ID_CHARACTERS_MAX} characters`);
}

/** A string outside free JSON: databases refuse U+0000 in text, and one string must not fill the store. */
export function tidyText(text: string, reading: Reading): string {
  const tidy = reading.mayHoldEscapes ? text.replaceAll('\0', '\ufffd') : text;
  if (!reading.mayHoldLongStrings) return tidy;
  const kept = truncateToBytes(tidy, reading.limits.stringMaxBytes);
  if (kept !== tidy) reading.cuts += 1;
  return kept;
}

/** The compact text of a free value; null after refusing it. */
export function readFreeJson(value: LosslessJson, field: string, reading: Reading): string | null {
  if (value === UNREADABLE) return refuse(reading, field, UNREADABLE_REASON);
  if (reading.mayHoldWide && holdsTooWide(value)) return refuse(reading, field, TOO_WIDE_REASON);
  const { freeJsonDepthMax, stringMaxBytes } = reading.limits;
  if (reading.mayNestTooDeep && nestsDeeperThan(value, freeJsonDepthMax)) {
    return refuse(reading, field, `nested deeper than ${freeJsonDepthMax} levels`);
  }
  const text = JSON.stringify(value);
  // A text this short cannot hold anything beyond the limits, so most values are never walked.
  if (reading.mayHoldLongKeys && !surelyFitsBytes(text, KEY_BYTES_MAX) && hasLongKey(value)) {
    return refuse(reading, field, LONG_KEY_REASON);
  }
  if (!reading.mayHoldLongStrings || surelyFitsBytes(text, stringMaxBytes)) return text;
  const truncated = truncateStrings(value, stringMaxBytes);
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
