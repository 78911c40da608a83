/** Those who wait for something there is little of. Owners take turns, so nobody stands behind all that one owner wants. */

export type WaitingLine<T> = {
  /** False where the line is full, or the owner has its share of it. */
  add(owner: string, item: T): boolean;
  /** Takes the next out of the line, of those whose turn it may be. */
  next(mayHave?: (owner: string) => boolean): T | undefined;
  /** Takes one out that does not wait any longer. False: it is not there. */
  remove(owner: string, item: T): boolean;
  /** Takes out whatever is to be given up. */
  removeWhere(isOver: (item: T) => boolean): readonly T[];
  length(): number;
};

/** Of the whole line, for one owner. */
const SHARE = 1 / 2;

export function createWaitingLine<T>(lengthMax: number): WaitingLine<T> {
  // By owner, in the order in which they come next; each with its own in the order in which they came.
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
    next(mayHave = () => true) {
      for (const [owner, own] of items) {
        if (!mayHave(owner)) continue;
        for (const item of own) {
          remove(owner, item);
          // Whoever had a turn stands behind the others.
          if (items.delete(owner)) items.set(owner, own);
          return item;
        }
      }
      return undefined;
    },
    remove,
    removeWhere(isOver) {
      const over = [...items].flatMap(([owner, own]) => [...own].filter(isOver).map((item) => [owner, item] as const));
      for (const [owner, item] of over) remove(owner, item);
      return over.map(([, item]) => item);
    },
    length: () => length,
  };
}
