/** Counts and numbers the tokens of two texts. */

/** The size of the multiset intersection. */
export function countShared<Token>(output: readonly Token[], expected: readonly Token[]): number {
  const left = new Map<Token, number>();
  for (const token of expected) left.set(token, (left.get(token) ?? 0) + 1);
  let shared = 0;
  for (const token of output) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    left.set(token, count - 1);
    shared += 1;
  }
  return shared;
}

/** A number for each key, from 0. */
export function idOf<Key>(ids: Map<Key, number>, key: Key): number {
  const cached = ids.get(key);
  if (cached !== undefined) return cached;
  ids.set(key, ids.size);
  return ids.size - 1;
}
