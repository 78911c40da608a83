/** Ends what has lasted too long among deliveries, and removes what is past its term, in steps that hold up nobody. */

import { retentionStartMs } from '../domain/page.ts';
import type { DeliveryStore } from '../domain/webhook-store.ts';

export type HousekeepingDeps = {
  readonly store: Pick<DeliveryStore, 'sweep'>;
  readonly nowMs: () => number;
  readonly onDisabled: (endpointId: string) => void;
  /** Resolves after the delay, or as soon as the signal says stop. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

/** Ended deliveries, attempts and replays are kept for so long. */
const KEPT_MS = 30 * 86_400_000;
const ROWS_PER_STEP = 500;
const STEP_PAUSE_MS = 50;

export function createHousekeeping({ store, nowMs, onDisabled, pause }: HousekeepingDeps) {
  return {
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const now = nowMs();
        const { more, disabled } = await store.sweep({
          nowMs: now,
          endedBeforeMs: now - KEPT_MS,
          eventsBeforeMs: retentionStartMs(now),
          rowsMax: ROWS_PER_STEP,
        });
        for (const endpointId of disabled) onDisabled(endpointId);
        if (!more) return;
        await pause(STEP_PAUSE_MS, signal);
      }
    },
  };
}
