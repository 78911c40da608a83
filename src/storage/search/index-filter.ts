/** Which traces of the blocks of a project may fit a filter, and what is known of them. */

import type { SearchFilter } from '../../domain/trace-filter.ts';
import { type AskedFacets, facetsAskedBy } from '../../domain/trace-search/facets.ts';
import { tripleNumbersOf } from '../../domain/trace-search/text-signature.ts';
import type { SearchQuestion } from '../../domain/trace-search-store.ts';
import {
  addSet,
  type Bits,
  bitBytes,
  COLUMNS,
  type Column,
  CROWDED_PART,
  facetNumber,
  newBits,
  SLICES_PER_PART,
  setBit,
  sliceOf,
  slicesPart,
  unpackBits,
  unpackColumn,
} from './block-format.ts';
import type { KnownBlock } from './known-blocks.ts';
import type { SearchAsking } from './trace-search.ts';

/** What a filter asks of an index. */
export type IndexPlan = {
  readonly conditions: readonly (AskedFacets & { readonly numbers: readonly number[] })[];
  readonly triples: readonly number[];
  /** Whether all traces that may fit do. */
  readonly isExact: boolean;
};

// More than that is quicker found by going through the traces.
const FACETS_MAX = 64;
const TRIPLES_MAX = 12;
const SIGNED_CHARACTERS = 64;

/** Null: an index is of no use for the filter. */
export function planFilter({ conditions, isNegated, text }: SearchFilter): IndexPlan | null {
  const asked = conditions.map(facetsAskedBy).map((each) => ({ ...each, numbers: each.anyOf.map(facetNumber) }));
  const areExact = asked.every(({ isExact }) => isExact);
  if (asked.reduce((sum, { anyOf }) => sum + anyOf.length, 0) > FACETS_MAX || (isNegated && !areExact)) return null;
  return {
    conditions: asked,
    // Those of the beginning tell as much as all of them.
    triples: tripleNumbersOf(text.slice(0, SIGNED_CHARACTERS)).slice(0, TRIPLES_MAX),
    isExact: areExact && text === '',
  };
}

export type IndexFilter = {
  /** For each of the blocks, in their order. Times are looked at, too. */
  match(blocks: readonly KnownBlock[]): Promise<readonly Bits[]>;
  /** The values of a column of some blocks, by their numbers. */
  column(blocks: readonly KnownBlock[], column: Column): Promise<ReadonlyMap<number, Float64Array>>;
  /** The sequences of traces that no facet tells anything of. */
  crowded(blocks: readonly KnownBlock[]): Promise<readonly number[]>;
};

export type IndexFilterDeps = SearchAsking & {
  readonly question: SearchQuestion;
  readonly plan: IndexPlan;
  /** Ascending; what blocks say of these is out of date. */
  readonly pending: readonly number[];
};

export function createIndexFilter({ questions, ask, question, plan, pending }: IndexFilterDeps): IndexFilter {
  const { projectNumber, filter } = question;
  const { isNegated } = filter;
  const numbers = [...new Set(plan.conditions.flatMap((condition) => condition.numbers))];
  const numbersOf = (blocks: readonly KnownBlock[]) => blocks.map(({ block }) => block);

  /** Traces of each block that have one of the values of every condition. */
  async function matchFacets(blocks: readonly KnownBlock[]): Promise<readonly Bits[]> {
    const facets =
      numbers.length === 0
        ? []
        : await ask(questions.listFacets, { projectNumber, blocks: numbersOf(blocks), facets: numbers });
    const found = new Map(facets.map(({ block, facet, places }) => [`${block} ${facet}`, places]));
    return blocks.map(({ block, traces }) => {
      const matched = allBits(traces);
      for (const condition of plan.conditions) {
        const any = newBits();
        for (const number of condition.numbers) {
          const places = found.get(`${block} ${number}`);
          if (places !== undefined) addSet(any, places, traces);
        }
        keep(matched, any);
      }
      if (isNegated)
        for (const [index, word] of allBits(traces).entries()) matched[index] = word & ~(matched[index] ?? 0);
      return matched;
    });
  }

  async function keepTexts(blocks: readonly KnownBlock[], matched: readonly Bits[]): Promise<void> {
    if (plan.triples.length === 0) return;
    // Blocks have as many slices as their texts need.
    for (const [textSlices, some] of Map.groupBy(blocks, (block) => block.textSlices)) {
      const slices = [...new Set(plan.triples.map((triple) => sliceOf(triple, textSlices)))];
      const parts = [...new Set(slices.map(slicesPart))];
      const rows = await ask(questions.listParts, { projectNumber, blocks: numbersOf(some), parts });
      const found = new Map(rows.map(({ block, part, content }) => [`${block} ${part}`, content]));
      for (const { block, traces } of some) {
        const bits = matched[blocks.findIndex((each) => each.block === block)];
        if (bits === undefined) continue;
        for (const slice of slices) {
          const content = found.get(`${block} ${slicesPart(slice)}`);
          const at = (slice % SLICES_PER_PART) * bitBytes(traces);
          keep(bits, content === undefined ? newBits() : unpackBits(content.subarray(at, at + bitBytes(traces))));
        }
      }
    }
  }

  /** Takes out what is too old or too new, where a block has any of that. */
  async function keepTimes(blocks: readonly KnownBlock[], matched: readonly Bits[]): Promise<void> {
    const { started, updated, goneBeforeMs } = question;
    const insertedFromMs = goneBeforeMs ?? Number.MIN_SAFE_INTEGER;
    const bounds = [
      { ...started, column: 'startedAtMs', of: (block: KnownBlock) => [block.startedFromMs, block.startedToMs] },
      { ...updated, column: 'updatedAtMs', of: (block: KnownBlock) => [block.updatedFromMs, block.updatedToMs] },
      {
        fromMs: insertedFromMs,
        toMs: Number.MAX_SAFE_INTEGER,
        column: 'insertedAtMs',
        of: (block: KnownBlock) => [block.insertedFromMs, block.insertedFromMs],
      },
    ] as const;
    for (const { fromMs, toMs, column, of } of bounds) {
      const isPartly = (block: KnownBlock) => {
        const [least = 0, most = 0] = of(block);
        return least < fromMs || most > toMs;
      };
      const some = blocks.filter(isPartly);
      if (some.length === 0) continue;
      const columns = await readColumn(some, column);
      for (const [index, { block }] of blocks.entries()) {
        const [values, bits] = [columns.get(block), matched[index]];
        if (values === undefined || bits === undefined) continue;
        const within = newBits();
        for (const [place, value] of values.entries()) if (value >= fromMs && value <= toMs) setBit(within, place);
        keep(bits, within);
      }
    }
  }

  /** Takes out what is not in the block any more, or not as it was. */
  async function keepPresent(blocks: readonly KnownBlock[], matched: readonly Bits[]): Promise<void> {
    const outdated = blocks.filter(({ firstSequence, lastSequence }) => {
      const first = firstNotBelow(pending, firstSequence);
      return first < pending.length && (pending[first] ?? 0) <= lastSequence;
    });
    const sequences = outdated.length === 0 ? new Map<number, Float64Array>() : await readColumn(outdated, 'sequence');
    const crowded = await readCrowded(blocks);
    for (const [index, { block, gone, firstSequence, lastSequence, traces }] of blocks.entries()) {
      const bits = matched[index];
      if (bits === undefined) continue;
      drop(bits, gone);
      const places = crowded.get(block);
      if (places !== undefined) {
        const some = newBits();
        addSet(some, places, traces);
        drop(bits, some);
      }
      const present = sequences.get(block);
      if (present === undefined) continue;
      const stale = newBits();
      for (
        let at = firstNotBelow(pending, firstSequence);
        (pending[at] ?? Number.POSITIVE_INFINITY) <= lastSequence;
        at += 1
      ) {
        const place = firstNotBelow(present, pending[at] ?? 0);
        if (present[place] === pending[at]) setBit(stale, place);
      }
      drop(bits, stale);
    }
  }

  async function readColumn(blocks: readonly KnownBlock[], column: Column): Promise<ReadonlyMap<number, Float64Array>> {
    const rows = await ask(questions.listParts, { projectNumber, blocks: numbersOf(blocks), parts: [COLUMNS[column]] });
    return new Map(rows.map(({ block, content }) => [block, unpackColumn(content)]));
  }

  async function readCrowded(blocks: readonly KnownBlock[]): Promise<ReadonlyMap<number, Uint8Array>> {
    const some = blocks.filter(({ crowdedCount }) => crowdedCount > 0);
    if (some.length === 0) return new Map();
    const rows = await ask(questions.listParts, { projectNumber, blocks: numbersOf(some), parts: [CROWDED_PART] });
    return new Map(rows.map(({ block, content }) => [block, content]));
  }

  return {
    async match(blocks) {
      const matched = await matchFacets(blocks);
      await keepPresent(blocks, matched);
      await keepTexts(blocks, matched);
      await keepTimes(blocks, matched);
      return matched;
    },
    column: readColumn,
    async crowded(blocks) {
      const some = blocks.filter(({ crowdedCount }) => crowdedCount > 0);
      if (some.length === 0) return [];
      const [places, sequences] = [await readCrowded(some), await readColumn(some, 'sequence')];
      return some.flatMap(({ block, traces, gone }) => {
        const bits = newBits();
        addSet(bits, places.get(block) ?? new Uint8Array(), traces);
        drop(bits, gone);
        return [...(sequences.get(block) ?? [])].filter((_, place) => ((bits[place >>> 5] ?? 0) >>> (place & 31)) & 1);
      });
    },
  };
}

function allBits(traces: number): Bits {
  const bits = newBits();
  for (let index = 0; index < bits.length; index += 1) {
    const count = Math.min(32, Math.max(0, traces - index * 32));
    bits[index] = count === 32 ? 0xffff_ffff : 2 ** count - 1;
  }
  return bits;
}

function keep(bits: Bits, those: Bits): void {
  for (const [index, word] of those.entries()) bits[index] = (bits[index] ?? 0) & word;
}

function drop(bits: Bits, those: Bits): void {
  for (const [index, word] of those.entries()) bits[index] = (bits[index] ?? 0) & ~word;
}

/** In ascending numbers: the place of the first that is not below another. */
function firstNotBelow(numbers: readonly number[] | Float64Array, number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
