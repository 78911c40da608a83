/** How long a claim of a queue lasts for the page that holds it. */

/** The server frees a trace ten minutes after its claim. */
const RENEWED_AFTER_MS = 3 * 60_000;

/** Refusals that say that the trace is no longer held: another reviewer may have it, or it is done. */
const LOST: ReadonlySet<string> = new Set([
  'annotation_queue_item_not_claimed',
  'annotation_queue_item_not_found',
  'annotation_queue_not_found',
  'annotation_queue_empty',
]);

export function isClaimLost(code: string | null): boolean {
  return code !== null && LOST.has(code);
}

type Renewal = { readonly isVisible: boolean; readonly renewedAtMs: number; readonly nowMs: number };

/** A page that nobody looks at lets its claim end, so that the trace does not wait for somebody who left. */
export function isRenewalDue({ isVisible, renewedAtMs, nowMs }: Renewal): boolean {
  return isVisible && nowMs - renewedAtMs >= RENEWED_AFTER_MS;
}
