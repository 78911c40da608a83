/** Addresses whose sessions were cut may not connect again for a while, longer every time. */

export type Penalties = {
  readonly punish: (address: string) => void;
  /** Whether connections of the address are refused for now. */
  readonly holds: (address: string) => boolean;
};

export type PenaltyOptions = {
  /** For the first time; it doubles with every further one. 0: there are no penalties. */
  readonly firstMs: number;
  readonly monotonicMs: () => number;
};

/** Whatever was done before: others may be behind the same address by then. */
const LONGEST_MS = 60_000;
/** After so long without another one, an address begins anew. */
const FORGET_MS = 600_000;
/** Beyond it the oldest are forgotten. */
const ADDRESSES_MAX = 10_000;

type Penalty = { readonly count: number; readonly sinceMs: number; readonly untilMs: number };

export function createPenalties({ firstMs, monotonicMs }: PenaltyOptions): Penalties {
  /** The latest punished last. */
  const byAddress = new Map<string, Penalty>();
  return {
    punish(address) {
      if (firstMs === 0) return;
      const nowMs = monotonicMs();
      const before = byAddress.get(address);
      // Sessions that were open side by side are one offence.
      if (before && nowMs < before.untilMs) return;
      const isKnown = before !== undefined && nowMs - before.sinceMs < FORGET_MS;
      const count = isKnown ? before.count + 1 : 1;
      const lengthMs = Math.min(LONGEST_MS, firstMs * 2 ** (count - 1));
      byAddress.delete(address);
      byAddress.set(address, { count, sinceMs: nowMs, untilMs: nowMs + lengthMs });
      const [oldest] = byAddress.keys();
      if (byAddress.size > ADDRESSES_MAX && oldest !== undefined) byAddress.delete(oldest);
    },
    holds(address) {
      const penalty = byAddress.get(address);
      return penalty !== undefined && monotonicMs() < penalty.untilMs;
    },
  };
}
