/** Instants as milliseconds since the Unix epoch, with one that is later than all others for ranges without an end. */

import { create } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';

/** The first and the last millisecond of the calendar. */
export const INSTANT_MIN_MS = -62_135_596_800_000;
export const INSTANT_MAX_MS = 253_402_300_799_999;

/** Ranges over REST end here when they have no end. */
const END_MS = Number.MAX_SAFE_INTEGER;
const END = { seconds: 253_402_300_799n, nanos: 999_999_999 };

/** Whatever is beyond the calendar becomes its last nanosecond, for messages can hold no more. */
export function timestampOfMs(instantMs: number): Timestamp {
  return instantMs > INSTANT_MAX_MS ? create(TimestampSchema, END) : timestampFromMs(instantMs);
}

/** Milliseconds with their fraction, for those who judge instants that were sent. */
export function fractionalMsOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1000 + nanos / 1_000_000;
}

/** The millisecond that has begun; of the last nanosecond of the calendar the largest number there is. */
export function msOfTimestamp({ seconds, nanos }: Timestamp): number {
  if (seconds === END.seconds && nanos === END.nanos) return END_MS;
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}
