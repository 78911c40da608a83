/** Builds a block of the search index from traces. */

import { addText, newSignature, type TextSignature } from '../../domain/traces/search/text-signature.ts';
import type { NewRow } from '../queries.ts';
import {
  BLOCK_TRACES_MAX,
  bitBytes,
  COLUMNS,
  type Column,
  CROWDED_PART,
  chooseSlices,
  countBits,
  facetNumber,
  idOrderOf,
  newBits,
  packBits,
  packColumn,
  packSet,
  SLICES_PER_PART,
  sliceOf,
  slicesPart,
} from './block-format.ts';

type IndexedTrace = Readonly<Record<Exclude<Column, 'idOrder'>, number | null>> & {
  readonly traceId: string;
  readonly sequence: number;
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
  readonly insertedAtMs: number;
  /** Null: the trace has too many facets. */
  readonly facets: ReadonlySet<string> | null;
};

type BlockKey = 'projectNumber' | 'block';

export type BuiltBlock = {
  readonly block: Omit<NewRow<'SearchBlock'>, BlockKey>;
  readonly facets: readonly Omit<NewRow<'SearchFacet'>, BlockKey>[];
  readonly parts: readonly Omit<NewRow<'SearchPart'>, BlockKey>[];
};

/** Traces beyond it are crowded: every search reads and checks them, like a trace with too many facets of its own. */
const FACETS_OF_BLOCK_MAX = 65_536;

export function createBlockBuilder() {
  const traces: IndexedTrace[] = [];
  const signatures: TextSignature[] = [];
  const indexesOfFacets = new Map<string, number[]>();
  const crowded: number[] = [];
  let facetCount = 0;

  return {
    /** Adds a trace: by ascending sequence, at most BLOCK_TRACES_MAX. Returns the function that adds its texts. */
    add(trace: IndexedTrace): (text: string) => void {
      if (traces.length === BLOCK_TRACES_MAX) throw new Error('a block of the index has too many traces');
      const index = traces.length;
      // The block keeps facets by value, not by trace.
      traces.push({ ...trace, facets: null });
      facetCount += trace.facets?.size ?? 0;
      const isCrowded = trace.facets === null || facetCount > FACETS_OF_BLOCK_MAX;
      if (isCrowded) crowded.push(index);
      for (const facet of isCrowded ? [] : (trace.facets ?? [])) {
        const indexes = indexesOfFacets.get(facet);
        if (indexes === undefined) indexesOfFacets.set(facet, [index]);
        else indexes.push(index);
      }
      const signature = newSignature();
      signatures.push(signature);
      return (text) => addText(signature, text);
    },
    /** Null without traces. */
    end(): BuiltBlock | null {
      const [first, last] = [traces[0], traces.at(-1)];
      if (first === undefined || last === undefined) return null;
      const count = traces.length;
      const { textSlices, parts } = sliceTexts(signatures);
      const byNumber = Map.groupBy(indexesOfFacets, ([facet]) => facetNumber(facet));
      const facets = [...byNumber].map(([facet, entries]) => ({
        facet,
        traceSet: packSet([...new Set(entries.flatMap(([, indexes]) => indexes))], count),
      }));
      return {
        block: {
          traces: count,
          firstSequence: first.sequence,
          lastSequence: last.sequence,
          ...boundsOf(traces),
          crowdedCount: crowded.length,
          textSlices,
          deleted: packBits(newBits(), count),
          deletedCount: 0,
        },
        facets: facets.sort((one, other) => one.facet - other.facet),
        parts: [
          ...columnsOf(traces),
          ...(crowded.length === 0 ? [] : [{ part: CROWDED_PART, content: packSet(crowded, count) }]),
          ...parts,
        ],
      };
    },
  };
}

function boundsOf(traces: readonly IndexedTrace[]) {
  const started = traces.map(({ startedAtMs }) => startedAtMs);
  const updated = traces.map(({ updatedAtMs }) => updatedAtMs);
  return {
    startedFromMs: Math.min(...started),
    startedToMs: Math.max(...started),
    updatedFromMs: Math.min(...updated),
    updatedToMs: Math.max(...updated),
    insertedFromMs: Math.min(...traces.map(({ insertedAtMs }) => insertedAtMs)),
  };
}

function columnsOf(traces: readonly IndexedTrace[]) {
  return Object.entries(COLUMNS).map(([column, part]) => ({
    part,
    content: packColumn(
      traces.map((trace) =>
        column === 'idOrder' ? idOrderOf(trace.traceId) : trace[column as keyof typeof trace],
      ) as (number | null)[],
    ),
  }));
}

/** Sets the bit of a trace in each slice of one of its triples. Parts without any bit are left out. */
function sliceTexts(signatures: readonly TextSignature[]) {
  const bytes = bitBytes(signatures.length);
  const textSlices = chooseSlices(signatures.reduce((sum, bits) => sum + countBits(bits), 0) / signatures.length);
  const slices = Buffer.alloc(textSlices * bytes);
  const isUsed = new Set<number>();
  for (const [traceIndex, signature] of signatures.entries()) {
    const [offset, bit] = [traceIndex >>> 3, 1 << (traceIndex & 7)];
    for (let index = 0; index < signature.length; index += 1) {
      for (let left = signature[index] ?? 0; left !== 0; left &= left - 1) {
        const slice = sliceOf(index * 32 + 31 - Math.clz32(left & -left), textSlices);
        const at = slice * bytes + offset;
        slices[at] = (slices[at] ?? 0) | bit;
      }
    }
  }
  for (let at = 0; at < slices.length; at += 1)
    if (slices[at] !== 0) isUsed.add(Math.floor(at / bytes / SLICES_PER_PART));
  const parts = [...isUsed].map((group) => ({
    part: slicesPart(group * SLICES_PER_PART),
    content: slices.subarray(group * SLICES_PER_PART * bytes, (group + 1) * SLICES_PER_PART * bytes),
  }));
  return { textSlices, parts };
}
