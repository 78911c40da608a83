/**
 * Ends deliveries and endpoints that lasted too long, and removes data past its retention, in steps that block nothing
 * else.
 */

import type { DeliveryStore } from '../domain/delivery/webhook-store.ts';
import { retentionStartMs } from '../domain/retention-terms.ts';

type DeliveryMaintenanceDeps = {
  readonly store: Pick<DeliveryStore, 'maintain'>;
  readonly nowMs: () => number;
  /** The present for deletions by age. */
  readonly retentionNowMs: () => number;
  readonly onDisabled: (endpointId: string) => void;
  /** Resolves after the delay, or when the signal aborts. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

/** Retention of ended deliveries, attempts and replays. */
const KEPT_MS = 30 * 86_400_000;
const ROWS_PER_STEP = 500;
const STEP_PAUSE_MS = 50;

export async function maintainDeliveries(
  { store, nowMs, retentionNowMs, onDisabled, pause }: DeliveryMaintenanceDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const now = nowMs();
    const oldNowMs = Math.min(now, retentionNowMs());
    const { more, disabled } = await store.maintain({
      nowMs: now,
      endedBeforeMs: oldNowMs - KEPT_MS,
      eventsBeforeMs: retentionStartMs(oldNowMs),
      rowsMax: ROWS_PER_STEP,
    });
    for (const endpointId of disabled) onDisabled(endpointId);
    if (!more) return;
    await pause(STEP_PAUSE_MS, signal);
  }
}
