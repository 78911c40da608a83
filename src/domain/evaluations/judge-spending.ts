/** What the language models that judge have cost each project on each day, and its port. */

export type JudgeSpendingStore = {
  /**
   * Adds an amount to what a project has spent on a day. MUST return false and add nothing when the sum would exceed the
   * budget, also when several processes reserve at once. MUST resolve true only after the amount is durable.
   */
  reserve(reservation: Reservation): Promise<boolean>;
  /** Corrects a reserved amount to what the call has cost. */
  settle(settlement: SpendingSettlement): Promise<void>;
};

/** A project on a day, in whole days since 1970 (UTC). */
type SpendingDay = { readonly projectId: string; readonly day: number };
export type Reservation = SpendingDay & { readonly nanoUsd: number; readonly budgetNanoUsd: number };
/** `changeNanoUsd` is below zero when the call cost less than was reserved. */
export type SpendingSettlement = SpendingDay & { readonly changeNanoUsd: number };

const DAY_MS = 86_400_000;

export function utcDayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}
