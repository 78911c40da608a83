/** A bounded queue in which owners (projects) take turns, so that one owner's backlog does not delay the others. */

/** The share of the whole queue that one owner may fill. */
const SHARE = 1 / 2;

export type OwnerQueue<Owner, T> = ReturnType<typeof createOwnerQueue<Owner, T>>;

export function createOwnerQueue<Owner, T>(lengthMax: number, ofOwnerMax = Math.ceil(lengthMax * SHARE)) {
  // Owners in the order of their turns; the items of each owner in the order in which they were added.
  const items = new Map<Owner, Set<T>>();
  let length = 0;

  /** False when the item is not in the queue. */
  function remove(owner: Owner, item: T): boolean {
    const owned = items.get(owner);
    if (!owned?.delete(item)) return false;
    length -= 1;
    if (owned.size === 0) items.delete(owner);
    return true;
  }

  return {
    /** `owner_full`: the owner has used its share of the queue. An item that is in the queue keeps its place. */
    add(owner: Owner, item: T): 'added' | 'full' | 'owner_full' {
      const owned = items.get(owner) ?? new Set();
      if (owned.has(item)) return 'added';
      if (owned.size >= ofOwnerMax) return 'owner_full';
      if (length >= lengthMax) return 'full';
      items.set(owner, owned.add(item));
      length += 1;
      return 'added';
    },
    /** Removes and returns the next item, skipping owners that are not allowed now. */
    next(isAllowed: (owner: Owner) => boolean = () => true): T | undefined {
      for (const [owner, owned] of items) {
        if (!isAllowed(owner)) continue;
        for (const item of owned) {
          remove(owner, item);
          // Moves the owner behind all others.
          if (items.delete(owner)) items.set(owner, owned);
          return item;
        }
      }
      return undefined;
    },
    remove,
    length: () => length,
  };
}
