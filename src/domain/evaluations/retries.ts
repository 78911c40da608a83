/** When a run that failed is tried again. */

import type { EvaluationOutcome } from './outcome.ts';

/** After the first failure that may pass, the second and the third; one more is the result. */
const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000];

/** `failures` came before this outcome. Null: it is the result. */
export function retryDelayMs(outcome: EvaluationOutcome, failures: number): number | null {
  if (outcome.status !== 'error' || !outcome.isRetryable) return null;
  return RETRY_DELAYS_MS[failures] ?? null;
}
