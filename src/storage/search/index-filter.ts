/** Finds the traces in the blocks of a project that may fit a filter. */

import { type RequiredFacets, requiredFacets } from '../../domain/traces/search/facets.ts';
import { tripleNumbersOf } from '../../domain/traces/search/text-signature.ts';
import type { SearchFilter } from '../../domain/traces/search/trace-filter.ts';
import type { SearchQuery } from '../../domain/traces/search/trace-search-store.ts';
import {
  addSet,
  type Bits,
  bitBytes,
  COLUMNS,
  type Column,
  CROWDED_PART,
  facetNumber,
  hasBit,
  newBits,
  SLICES_PER_PART,
  setBit,
  sliceOf,
  slicesPart,
  unpackBits,
  unpackColumn,
} from './block-format.ts';
import type { IndexBlock, SearchRunner } from './index-reader.ts';

/** A filter in terms of the index. */
type IndexPlan = {
  readonly conditions: readonly (RequiredFacets & { readonly numbers: readonly number[] })[];
  readonly triples: readonly number[];
  /** Whether every trace that the index finds fits the filter, without a check. */
  readonly isExact: boolean;
};

// With more facets, scanning all traces is faster.
const FACETS_MAX = 64;
const TRIPLES_MAX = 12;
const SIGNED_CHARACTERS = 64;

/** Null: the index does not help with this filter. */
export function planFilter({ conditions, isNegated, text }: SearchFilter): IndexPlan | null {
  const conditionFacets = conditions
    .map(requiredFacets)
    .map((each) => ({ ...each, numbers: each.anyOf.map(facetNumber) }));
  const areExact = conditionFacets.every(({ isExact }) => isExact);
  if (conditionFacets.reduce((sum, { anyOf }) => sum + anyOf.length, 0) > FACETS_MAX || (isNegated && !areExact))
    return null;
  return {
    conditions: conditionFacets,
    // The triples at the beginning of the text are selective enough.
    triples: tripleNumbersOf(text.slice(0, SIGNED_CHARACTERS)).slice(0, TRIPLES_MAX),
    isExact: areExact && text === '',
  };
}

export type IndexFilter = ReturnType<typeof createIndexFilter>;

type IndexFilterDeps = SearchRunner & {
  readonly query: SearchQuery;
  readonly plan: IndexPlan;
  /** Ascending sequences of traces that changed since they were indexed. */
  readonly pending: readonly number[];
};

export function createIndexFilter({ queries, runQuery, query, plan, pending }: IndexFilterDeps) {
  const { projectNumber, filter } = query;
  const { isNegated } = filter;
  const numbers = [...new Set(plan.conditions.flatMap((condition) => condition.numbers))];
  const numbersOf = (blocks: readonly IndexBlock[]) => blocks.map(({ block }) => block);

  /** The traces of each block that have, for every condition, one of its values. */
  async function matchFacets(blocks: readonly IndexBlock[]): Promise<readonly Bits[]> {
    const facets =
      numbers.length === 0
        ? []
        : await runQuery(queries.listFacets, { projectNumber, blocks: numbersOf(blocks), facets: numbers });
    const found = new Map(facets.map(({ block, facet, traceSet }) => [`${block} ${facet}`, traceSet]));
    return blocks.map(({ block, traces }) => {
      const matched = allBits(traces);
      for (const condition of plan.conditions) {
        const any = newBits();
        for (const number of condition.numbers) {
          const traceSet = found.get(`${block} ${number}`);
          if (traceSet !== undefined) addSet(any, traceSet, traces);
        }
        keep(matched, any);
      }
      if (isNegated)
        for (const [index, word] of allBits(traces).entries()) matched[index] = word & ~(matched[index] ?? 0);
      return matched;
    });
  }

  async function keepTexts(blocks: readonly IndexBlock[], matched: readonly Bits[]): Promise<void> {
    if (plan.triples.length === 0) return;
    // The number of slices differs between blocks.
    for (const [textSlices, some] of Map.groupBy(blocks, (block) => block.textSlices)) {
      const slices = [...new Set(plan.triples.map((triple) => sliceOf(triple, textSlices)))];
      const parts = [...new Set(slices.map(slicesPart))];
      const rows = await runQuery(queries.listParts, { projectNumber, blocks: numbersOf(some), parts });
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

  /** Applies the time bounds to blocks that reach beyond them. */
  async function keepTimes(blocks: readonly IndexBlock[], matched: readonly Bits[]): Promise<void> {
    const { started, updated, expiredBeforeMs } = query;
    const insertedFromMs = expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
    const bounds = [
      { ...started, column: 'startedAtMs', of: (block: IndexBlock) => [block.startedFromMs, block.startedToMs] },
      { ...updated, column: 'updatedAtMs', of: (block: IndexBlock) => [block.updatedFromMs, block.updatedToMs] },
      {
        fromMs: insertedFromMs,
        toMs: Number.MAX_SAFE_INTEGER,
        column: 'insertedAtMs',
        of: (block: IndexBlock) => [block.insertedFromMs, block.insertedFromMs],
      },
    ] as const;
    for (const { fromMs, toMs, column, of } of bounds) {
      const isPartly = (block: IndexBlock) => {
        const [least = 0, most = 0] = of(block);
        return least < fromMs || most > toMs;
      };
      const columns = await readColumn(blocks.filter(isPartly), column);
      for (const [index, { block }] of blocks.entries()) {
        const [values, bits] = [columns.get(block), matched[index]];
        if (values === undefined || bits === undefined) continue;
        const within = newBits();
        for (const [index, value] of values.entries()) if (value >= fromMs && value <= toMs) setBit(within, index);
        keep(bits, within);
      }
    }
  }

  /** Drops traces that are deleted, crowded or changed since they were indexed. */
  async function keepPresent(blocks: readonly IndexBlock[], matched: readonly Bits[]): Promise<void> {
    const outdated = blocks.filter(({ firstSequence, lastSequence }) => {
      const first = firstNotBelow(pending, firstSequence);
      return first < pending.length && (pending[first] ?? 0) <= lastSequence;
    });
    const sequences = await readColumn(outdated, 'sequence');
    const crowded = await readCrowded(blocks);
    for (const [index, { block, deleted, firstSequence, lastSequence, traces }] of blocks.entries()) {
      const bits = matched[index];
      if (bits === undefined) continue;
      drop(bits, deleted);
      const traceSet = crowded.get(block);
      if (traceSet !== undefined) {
        const some = newBits();
        addSet(some, traceSet, traces);
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
        const index = firstNotBelow(present, pending[at] ?? 0);
        if (present[index] === pending[at]) setBit(stale, index);
      }
      drop(bits, stale);
    }
  }

  /** The values of a column, by block number. */
  async function readColumn(blocks: readonly IndexBlock[], column: Column): Promise<ReadonlyMap<number, Float64Array>> {
    const contents = await readPart(blocks, COLUMNS[column]);
    return new Map([...contents].map(([block, content]) => [block, unpackColumn(content)]));
  }

  function readCrowded(blocks: readonly IndexBlock[]): Promise<ReadonlyMap<number, Uint8Array>> {
    return readPart(
      blocks.filter(({ crowdedCount }) => crowdedCount > 0),
      CROWDED_PART,
    );
  }

  async function readPart(blocks: readonly IndexBlock[], part: number): Promise<ReadonlyMap<number, Uint8Array>> {
    if (blocks.length === 0) return new Map();
    const rows = await runQuery(queries.listParts, { projectNumber, blocks: numbersOf(blocks), parts: [part] });
    return new Map(rows.map(({ block, content }) => [block, content]));
  }

  return {
    /** For each block, in the same order. Applies the time bounds, too. */
    async match(blocks: readonly IndexBlock[]): Promise<readonly Bits[]> {
      const matched = await matchFacets(blocks);
      await keepPresent(blocks, matched);
      await keepTexts(blocks, matched);
      await keepTimes(blocks, matched);
      return matched;
    },
    column: readColumn,
    /** The sequences of crowded traces, which have no facets in the index. */
    async crowded(blocks: readonly IndexBlock[]): Promise<readonly number[]> {
      const some = blocks.filter(({ crowdedCount }) => crowdedCount > 0);
      if (some.length === 0) return [];
      const [crowded, sequences] = [await readCrowded(some), await readColumn(some, 'sequence')];
      return some.flatMap(({ block, traces, deleted }) => {
        const bits = newBits();
        addSet(bits, crowded.get(block) ?? new Uint8Array(), traces);
        drop(bits, deleted);
        return [...(sequences.get(block) ?? [])].filter((_, index) => hasBit(bits, index));
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

/** The index of the first number that is at least `number`; the numbers ascend. */
function firstNotBelow(numbers: readonly number[] | Float64Array, number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
