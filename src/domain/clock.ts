/** Time and randomness are parameters, so that tests can set them. */

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** Cryptographically strong random bytes. */
export type RandomBytes = (count: number) => Buffer;

/**
 * Clocks of machines differ, and are corrected in steps: a stored instant may be this much ahead of the clock. One further
 * ahead was read from a clock that was wrong.
 */
export const AHEAD_MAX_MS = 60_000;

/** From now until an instant. */
export type Lease = { readonly nowMs: number; readonly untilMs: number };

/** Leases that end later were given by a clock that was ahead, and count as over. */
export function leaseMaxMs({ untilMs }: Lease): number {
  return untilMs + AHEAD_MAX_MS;
}
