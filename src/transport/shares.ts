/** A semaphore whose permits are shared out: no connection and no address can take more than its part of them. */

export type SharesOptions = {
  readonly totalMax: number;
  readonly perAddressMax: number;
  readonly perConnectionMax: number;
};

export type Holder = {
  /** Told apart by identity. */
  readonly connection: object;
  readonly address: string;
};

export type Shares = {
  /** Takes a permit; null when there is none left for this holder. The answer gives it back, once however often it is called. */
  readonly acquire: (holder: Holder) => (() => void) | null;
};

export function createShares({ totalMax, perAddressMax, perConnectionMax }: SharesOptions): Shares {
  const byAddress = new Map<string, number>();
  const byConnection = new Map<object, number>();
  let total = 0;
  return {
    acquire({ connection, address }) {
      const isFull =
        total >= totalMax ||
        (byAddress.get(address) ?? 0) >= perAddressMax ||
        (byConnection.get(connection) ?? 0) >= perConnectionMax;
      if (isFull) return null;
      total += 1;
      add(byAddress, address, 1);
      add(byConnection, connection, 1);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        total -= 1;
        add(byAddress, address, -1);
        add(byConnection, connection, -1);
      };
    },
  };
}

function add<K>(counts: Map<K, number>, key: K, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
