/** Random bytes drawn many at a time: asking for a few costs as much as asking for thousands. */

import type { RandomBytes } from '../domain/clock.ts';

const POOL_BYTES = 8_192;

/** No byte is handed out twice. Not for secrets: what is handed out stays readable in the pool. */
export function poolRandom(random: RandomBytes): RandomBytes {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (count) => {
    if (count > POOL_BYTES) return random(count);
    if (used + count > pool.length) {
      pool = random(POOL_BYTES);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}
