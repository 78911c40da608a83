/**
 * Limits how many streams the sessions of one address reset together. nghttp2 limits one session only, and a client that
 * connects again before it reaches that limit makes the server open and close streams without end.
 */

type ResetBudget = {
  /** Counts one reset; false once the address has reset more than it may. */
  readonly spend: (address: string) => boolean;
};

/** Resets at once: honest clients behind one address cancel a few hundred calls, when a process of theirs ends. */
const RESETS_MAX = 2_000;
const RESETS_PER_SECOND = 100;
/** Beyond it, the address whose last reset is the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;
const MS_PER_SECOND = 1_000;

/** Resets that an address still has left, as of an instant. */
type Budget = { left: number; atMs: number };

export function createResetBudget(monotonicMs: () => number): ResetBudget {
  /** In the order of the latest reset. */
  const byAddress = new Map<string, Budget>();
  return {
    spend(address) {
      const nowMs = monotonicMs();
      const budget = byAddress.get(address) ?? { left: RESETS_MAX, atMs: nowMs };
      budget.left = Math.min(RESETS_MAX, budget.left + ((nowMs - budget.atMs) * RESETS_PER_SECOND) / MS_PER_SECOND) - 1;
      budget.atMs = nowMs;
      byAddress.delete(address);
      byAddress.set(address, budget);
      const [oldest] = byAddress.keys();
      if (byAddress.size > ADDRESSES_MAX && oldest !== undefined) byAddress.delete(oldest);
      if (budget.left >= 0) return true;
      budget.left = 0;
      return false;
    },
  };
}
