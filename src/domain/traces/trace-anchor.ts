/**
 * The anchor of a trace: the start of its first spans, never changed again. A store may partition and sort by it, because a
 * span that is sent again with another start is still found, and replaced, where the trace lies.
 */

const MS_PER_DAY = 86_400_000;
/** Further than this from the receipt, a start is a mistake of the sender's clock. */
export const ANCHOR_DISTANCE_MAX_MS = 31 * MS_PER_DAY;

/** Epoch milliseconds; null as long as the trace has no span. */
export function anchorOf(startedAtMs: number | null, receivedAtMs: number): number | null {
  if (startedAtMs === null) return null;
  const latest = Math.min(startedAtMs, receivedAtMs + ANCHOR_DISTANCE_MAX_MS);
  return Math.max(latest, receivedAtMs - ANCHOR_DISTANCE_MAX_MS);
}
