/** Instants as milliseconds since the Unix epoch, with a maximum for ranges without an end. */

import { create } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Reason } from '../domain/fault.ts';
import { rangeProblems } from '../domain/reasons.ts';

/** The first and the last millisecond of the calendar. */
export const INSTANT_MIN_MS = -62_135_596_800_000;
export const INSTANT_MAX_MS = 253_402_300_799_999;

/** The end of ranges without an end over REST. */
const END_MS = Number.MAX_SAFE_INTEGER;
const END = { seconds: 253_402_300_799n, nanos: 999_999_999 };

/** Instants after the year 9999 become its last nanosecond, the maximum of a Timestamp. */
export function timestampOfMs(instantMs: number): Timestamp {
  return instantMs > INSTANT_MAX_MS ? create(TimestampSchema, END) : timestampFromMs(instantMs);
}

/** An instant that may be missing. */
export function toTimestamp(instantMs: number | null): Timestamp | undefined {
  return instantMs === null ? undefined : timestampFromMs(instantMs);
}

/** Milliseconds with their fraction, to validate instants of requests. */
export function fractionalMsOf(instant: Timestamp | undefined): number | undefined {
  return instant && Number(instant.seconds) * 1000 + instant.nanos / 1_000_000;
}

/** Whole milliseconds, rounded down; the last nanosecond of the calendar becomes the largest safe integer. */
export function msOfTimestamp({ seconds, nanos }: Timestamp): number {
  if (nanos === END.nanos && seconds === END.seconds) return END_MS;
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}

/** A range of a request that was validated. */
export function requireRange(from: Timestamp | undefined, to: Timestamp | undefined) {
  if (from === undefined || to === undefined) throw new Error('the contract let a request without a range through');
  return { fromMs: msOfTimestamp(from), toMs: msOfTimestamp(to) };
}

/** The problems of a range. The rules of its fields report a missing end. */
export function checkRange(from: Timestamp | undefined, to: Timestamp | undefined): readonly Reason[] {
  return from === undefined || to === undefined ? [] : rangeProblems(msOfTimestamp(from), msOfTimestamp(to));
}
