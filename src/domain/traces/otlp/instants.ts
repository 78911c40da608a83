/** Reads instants of OpenTelemetry, which are nanoseconds since the epoch. */

import { type Sent, unreadable } from '../collector/collector-draft.ts';

const NANO_PER_MS = 1_000_000n;
const HALF_MS = 500_000n;

/** Nanoseconds from the instant rounded to a millisecond to the instant itself; undefined for none. */
export function nanosBeyond(nano: bigint): number | undefined {
  const beyond = Number(((nano + HALF_MS) % NANO_PER_MS) - HALF_MS);
  return beyond === 0 ? undefined : beyond;
}

/** A value below is of another unit: as nanoseconds it would be an instant before 1974. */
const NANOSECONDS_MIN = 10n ** 17n;

const OTHER_UNITS = [
  { name: 'seconds', below: 10n ** 11n, nanoseconds: 1_000_000_000 },
  { name: 'milliseconds', below: 10n ** 14n, nanoseconds: 1_000_000 },
  { name: 'microseconds', below: NANOSECONDS_MIN, nanoseconds: 1_000 },
] as const;

/** Epoch milliseconds, rounded half up. 0 is the protocol's default: nothing was sent. */
export function toInstantMs(nano: bigint, field: string): Sent<number> {
  if (nano === 0n) return unreadable(field, 'is required');
  if (nano >= NANOSECONDS_MIN) return Number((nano + HALF_MS) / NANO_PER_MS);
  const unit = OTHER_UNITS.find(({ below }) => nano < below) ?? OTHER_UNITS[2];
  const guess = `${nano} looks like ${unit.name}, multiply by ${unit.nanoseconds}`;
  return unreadable(field, `must be nanoseconds since the epoch; ${guess}`);
}
