/** Seeded random draws. */

export type Chance = {
  /** A number in [0, 1). */
  next(): number;
  below(count: number): number;
  happens(probability: number): boolean;
  /** Throws when the list is empty. */
  pick<T>(from: readonly T[]): T;
  pickSome<T>(from: readonly T[], countMax: number): readonly T[];
  /** Picks a key by weight. */
  weigh<W extends string>(weights: Readonly<Record<W, number>>): W;
  digits(count: number): string;
};

export function createChance(next: () => number): Chance {
  const below = (count: number) => Math.floor(next() * count);
  const pick = <T>(from: readonly T[]): T => {
    const chosen = from[below(from.length)];
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  };
  return {
    next,
    below,
    pick,
    happens: (probability) => next() < probability,
    pickSome: (from, countMax) => Array.from({ length: 1 + below(countMax) }, () => pick(from)),
    weigh(weights) {
      const words = Object.entries<number>(weights);
      let left = next() * words.reduce((sum, [, weight]) => sum + weight, 0);
      const found = words.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      return (found ?? words[0])?.[0] as keyof typeof weights;
    },
    digits: (count) => Array.from({ length: count }, () => below(16).toString(16)).join(''),
  };
}
