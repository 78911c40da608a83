/** Gives very many numbers ids from 0 on, without an object for each of them. */

const MULTIPLIER = 0x9e_37_79_b1;
const HIGH = 2 ** 32;

/** Numbers are whole and below 2 ** 53. */
export function createNumberIds(countMax: number) {
  let slots = 1024;
  while (slots < 2 * countMax) slots *= 2;
  // A slot has the id plus one; 0: it is free.
  const ids = new Uint32Array(slots);
  const numbers = new Float64Array(countMax);
  let count = 0;

  return {
    count: (): number => count,
    numberOf: (id: number): number => numbers[id] ?? 0,
    /** Undefined: the number is new, and there are as many as there may be. */
    idOf(number: number): number | undefined {
      const high = Math.floor(number / HIGH);
      let slot = (Math.imul(number ^ Math.imul(high, MULTIPLIER), MULTIPLIER) >>> 7) & (slots - 1);
      for (;;) {
        const known = (ids[slot] ?? 0) - 1;
        if (known === -1) break;
        if (numbers[known] === number) return known;
        slot = (slot + 1) & (slots - 1);
      }
      if (count === countMax) return undefined;
      ids[slot] = count + 1;
      numbers[count] = number;
      count += 1;
      return count - 1;
    },
  };
}
