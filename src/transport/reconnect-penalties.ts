/** Blocks addresses whose sessions were cut from connecting again for a while, each time for longer. */

type Penalties = {
  readonly penalize: (address: string) => void;
  /** Whether connections of the address are refused for now. */
  readonly isBlocked: (address: string) => boolean;
};

type PenaltyOptions = {
  /** The first penalty; each further one is twice as long. 0: there are no penalties. */
  readonly firstMs: number;
  readonly monotonicMs: () => number;
};

/** The longest penalty: by then another client may have the address. */
const LONGEST_MS = 60_000;
/** After this long without a penalty, the next one is a first one again. */
const FORGET_MS = 600_000;
/** Beyond it the oldest penalties are dropped. */
const ADDRESSES_MAX = 10_000;

type Penalty = { readonly count: number; readonly sinceMs: number; readonly untilMs: number };

export function createPenalties({ firstMs, monotonicMs }: PenaltyOptions): Penalties {
  /** In the order of the latest penalty. */
  const byAddress = new Map<string, Penalty>();
  return {
    penalize(address) {
      if (firstMs === 0) return;
      const nowMs = monotonicMs();
      const before = byAddress.get(address);
      // Sessions of one address that are cut together count once.
      if (before && nowMs < before.untilMs) return;
      const isKnown = before !== undefined && nowMs - before.sinceMs < FORGET_MS;
      const count = isKnown ? before.count + 1 : 1;
      const lengthMs = Math.min(LONGEST_MS, firstMs * 2 ** (count - 1));
      byAddress.delete(address);
      byAddress.set(address, { count, sinceMs: nowMs, untilMs: nowMs + lengthMs });
      const [oldest] = byAddress.keys();
      if (byAddress.size > ADDRESSES_MAX && oldest !== undefined) byAddress.delete(oldest);
    },
    isBlocked(address) {
      const penalty = byAddress.get(address);
      return penalty !== undefined && monotonicMs() < penalty.untilMs;
    },
  };
}
