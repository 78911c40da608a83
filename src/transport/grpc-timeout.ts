/** Reads the deadline of a gRPC call. */

const UNIT_MS: { readonly [unit: string]: number } = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
// Timers hold 31 bits; a deadline weeks away is as good as this one.
export const TIMER_MAX_MS = 2_147_483_647;

/** Milliseconds, at least 0; null when the header is no duration. */
export function parseGrpcTimeout(header: string): number | null {
  const match = /^(\d{1,8})([HMSmun])$/.exec(header);
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  return unitMs === undefined ? null : Math.min(Number(match?.[1]) * unitMs, TIMER_MAX_MS);
}
