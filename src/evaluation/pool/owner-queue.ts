/** A bounded queue in which owners (projects) take turns, so that one owner's backlog does not delay the others. */

export type OwnerQueue<T> = {
  /** False where the queue is full, or the owner has used its share of it. */
  add(owner: string, item: T): boolean;
  /** Removes and returns the next item, skipping owners that are not allowed now. */
  next(isAllowed?: (owner: string) => boolean): T | undefined;
  /** False when the item is not in the queue. */
  remove(owner: string, item: T): boolean;
  /** Removes and returns every matching item. */
  removeWhere(matches: (item: T) => boolean): readonly T[];
  length(): number;
};

/** The share of the whole queue that one owner may fill. */
const SHARE = 1 / 2;

export function createOwnerQueue<T>(lengthMax: number): OwnerQueue<T> {
  // Owners in the order of their turns; the items of each owner in the order in which they were added.
  const items = new Map<string, Set<T>>();
  const ofOwnerMax = Math.ceil(lengthMax * SHARE);
  let length = 0;

  function remove(owner: string, item: T): boolean {
    const own = items.get(owner);
    if (!own?.delete(item)) return false;
    length -= 1;
    if (own.size === 0) items.delete(owner);
    return true;
  }

  return {
    add(owner, item) {
      const own = items.get(owner) ?? new Set();
      if (length >= lengthMax || own.size >= ofOwnerMax) return false;
      items.set(owner, own.add(item));
      length += 1;
      return true;
    },
    next(isAllowed = () => true) {
      for (const [owner, own] of items) {
        if (!isAllowed(owner)) continue;
        for (const item of own) {
          remove(owner, item);
          // Moves the owner behind all others.
          if (items.delete(owner)) items.set(owner, own);
          return item;
        }
      }
      return undefined;
    },
    remove,
    removeWhere(matches) {
      const found = [...items].flatMap(([owner, own]) =>
        [...own].filter(matches).map((item) => [owner, item] as const),
      );
      for (const [owner, item] of found) remove(owner, item);
      return found.map(([, item]) => item);
    },
    length: () => length,
  };
}
