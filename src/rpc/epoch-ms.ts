/** Instants as milliseconds since the Unix epoch, with a maximum for ranges without an end. */

import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Reason } from '../domain/fault.ts';
import { rangeProblems } from '../domain/reasons.ts';

/** The first and the last millisecond of the calendar. */
export const INSTANT_MIN_MS = -62_135_596_800_000;
export const INSTANT_MAX_MS = 253_402_300_799_999;

/** The end of ranges without an end over REST. */
const END_MS = Number.MAX_SAFE_INTEGER;
const START_SECONDS = -62_135_596_800n;
const END = { seconds: 253_402_300_799n, nanos: 999_999_999 };
const NANOS_MAX = 999_999_999;

/** What `timestampOfMs` has made of integers after the year 9999, which only REST can send. */
const beyondCalendar = new WeakSet<Timestamp>();

/** An instant after the year 9999 is none that a Timestamp may hold, but is compared as the integer that it is. */
export function timestampOfMs(instantMs: number): Timestamp {
  const instant = timestampFromMs(instantMs);
  if (instantMs > INSTANT_MAX_MS) beyondCalendar.add(instant);
  return instant;
}

/** Whether a request may have this instant: one of the calendar, or any integer of REST. */
export function isInstant(instant: Timestamp): boolean {
  const { seconds, nanos } = instant;
  if (beyondCalendar.has(instant)) return true;
  return seconds >= START_SECONDS && seconds <= END.seconds && nanos >= 0 && nanos <= NANOS_MAX;
}

/** Turns an instant after the year 9999 into the last nanosecond of the calendar, the maximum of a Timestamp. */
export function capInstant(instant: Timestamp): void {
  if (instant.seconds > END.seconds) Object.assign(instant, END);
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
