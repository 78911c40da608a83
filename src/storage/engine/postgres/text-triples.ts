/** The numbers by which PostgreSQL finds texts: of each triple of characters, 16 bits of a hash. */

import { forEachTriple } from '../../../domain/traces/search/text-signature.ts';
import type { TextCollector } from '../../search/trace-index.ts';

const NUMBERS = 65_536;
/** Below zero as PostgreSQL has no unsigned numbers. */
const OFFSET = NUMBERS / 2;

/** However long the texts of a trace are, it has no more numbers than there are. */
export function createTripleCollectors(): () => TextCollector<Int16Array> {
  // For each number, the last collector that found it.
  const foundBy = new Uint32Array(NUMBERS);
  const found = new Int16Array(NUMBERS);
  let collector = 0;
  return () => {
    // One after the other: a collector ends before the next one begins.
    collector += 1;
    let count = 0;
    return {
      add(text) {
        forEachTriple(text, (hash) => {
          const number = hash & (NUMBERS - 1);
          if (foundBy[number] === collector) return;
          foundBy[number] = collector;
          found[count] = number - OFFSET;
          count += 1;
        });
      },
      end: () => found.slice(0, count).sort(),
    };
  };
}

/** The numbers of a folded text, each once. */
export function triplesOf(text: string): Int16Array {
  const collector = createTripleCollectors()();
  collector.add(text);
  return collector.end();
}
