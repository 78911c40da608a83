/**
 * Reads many candidates in the order of a query: part by part, best first, until no part can have a better one. Parts
 * are chunks of sequences, of which the times are known, or buckets of the number that sorts.
 */

import { greatestOf, leastOf, NONE } from '../../../domain/number-buckets.ts';
import type { SearchQuery } from '../../../domain/traces/search/trace-search-store.ts';
import type { RangedNumber } from '../../search/index-plan.ts';
import { comparePositions, lastKey, positionOf } from '../../search/named-traces.ts';
import type { Select } from '../../search/trace-index.ts';
import { CHUNK_TRACES } from './search-file.ts';
import type { Bucket, Chunk, Piece, Row, SearchRows } from './search-rows.ts';
import { anyBucket, narrowest } from './search-tokens.ts';
import type { YieldWhenDue } from './yield-when-due.ts';

export type Scope = {
  readonly rows: SearchRows;
  readonly query: SearchQuery;
  /** By ascending number. */
  readonly chunks: readonly Chunk[];
  readonly whole: Piece;
  /** In ascending order. */
  readonly leftOut: readonly number[];
  readonly yieldWhenDue: YieldWhenDue;
};

/** The keys of its traces lie between the best and the worst. */
type Part = { readonly best: number; readonly worst: number; readonly traces: number };
type Parts<Of extends Part = Part> = {
  /** Best first. */
  readonly list: readonly Of[];
  readonly piecesOf: (group: readonly Of[]) => readonly Piece[];
};

/** Traces of the parts that are read together, about. */
const TOGETHER_MAX = 32 * CHUNK_TRACES;
/** Rather read a few too many than begin again. */
const MORE = 1.5;
const GROWTH_MAX = 8;
/** An expression of FTS5 has a token for each bucket. */
const PARTS_MAX = 64;

const NUMBERS: Readonly<Record<SearchQuery['sort'], RangedNumber | null>> = {
  started_at: null,
  updated_at: null,
  total_cost: 'totalCostNanoUsd',
  total_time_ms: 'totalTimeMs',
  first_token_ms: 'firstTokenMs',
};

/** `spread`: about how many traces there are for each candidate. */
export function createWalk(scope: Scope, spread: number): Select {
  const number = NUMBERS[scope.query.sort];
  return number === null ? walk(scope, chunkParts(scope), spread) : walk(scope, bucketParts(scope, number), spread);
}

function walk<Of extends Part>(
  { rows, query, leftOut, yieldWhenDue }: Scope,
  { list, piecesOf }: Parts<Of>,
  spread: number,
): Select {
  const isBefore = (key: number, other: number) => (query.isAscending ? key < other : key > other);
  return async ({ after, limit }) => {
    let together = within(MORE * limit * spread);
    const left = after === null ? list : list.filter(({ worst }) => !isBefore(worst, after.key));
    let best: readonly Row[] = [];
    for (let at = 0; at < left.length; ) {
      const [worst, next] = [best[limit - 1], left[at]];
      if (worst !== undefined && next !== undefined && isBefore(worst.key, next.best)) break;
      const group = takeTogether(left, at, together);
      at += group.length;
      const found: Row[] = [];
      for (const piece of piecesOf(group)) {
        found.push(...rows.firstRows(piece, { after, limit, leftOut: between(leftOut, piece) }));
        await yieldWhenDue();
      }
      best = [...best, ...found].sort((one, other) => comparePositions(one, other, query)).slice(0, limit);
      together = within(together * Math.min(GROWTH_MAX, (MORE * limit) / (found.length + 1)));
    }
    return toSelected(best, limit);
  };
}

function within(together: number): number {
  return Math.min(TOGETHER_MAX, Math.max(CHUNK_TRACES, together));
}

function takeTogether<Of extends Part>(list: readonly Of[], start: number, together: number): readonly Of[] {
  let [end, traces] = [start, 0];
  for (; end < Math.min(list.length, start + PARTS_MAX) && traces < together; end += 1)
    traces += list[end]?.traces ?? 0;
  return list.slice(start, end);
}

export function toSelected(rows: readonly Row[], limit: number) {
  const last = rows.at(-1);
  return {
    sequences: rows.map(({ sequence }) => sequence),
    last: last === undefined || rows.length < limit ? null : positionOf(last),
  };
}

function chunkParts({ query, chunks, whole }: Scope): Parts<Part & Chunk> {
  const isByStart = query.sort === 'started_at';
  const list = chunks.map((chunk) => {
    const from = isByStart ? chunk.startedFrom : chunk.updatedFrom;
    const to = isByStart ? chunk.startedTo : chunk.updatedTo;
    return { ...chunk, ...ordered(query, from, to), traces: CHUNK_TRACES };
  });
  return {
    list: bestFirst(query, list),
    piecesOf: (group) =>
      runsOf(
        group.toSorted((one, other) => one.chunk - other.chunk),
        () => true,
      ).map(({ from, to }) => ({ ...whole, from, to })),
  };
}

function bucketParts({ rows, query, whole }: Scope, number: RangedNumber): Parts<Part & Bucket> {
  const list = rows.buckets(number).map((each) => {
    const isNone = each.bucket === NONE;
    const [from, to] = isNone ? [lastKey(query), lastKey(query)] : [leastOf(each.bucket), greatestOf(each.bucket)];
    return { ...each, ...ordered(query, from, to) };
  });
  return {
    list: bestFirst(query, list),
    piecesOf(group) {
      const inBuckets = anyBucket(query.projectNumber, number, group);
      const facets = narrowest(query.projectNumber, [...whole.facets, inBuckets]);
      const traces = group.reduce((sum, part) => sum + part.traces, 0);
      const count = Math.ceil(traces / (2 * TOGETHER_MAX));
      const length = Math.ceil((whole.to - whole.from + 1) / count);
      return Array.from({ length: count }, (_, index) => {
        const from = whole.from + index * length;
        return { ...whole, facets, from, to: Math.min(whole.to, from + length - 1) };
      });
    },
  };
}

function ordered({ isAscending }: SearchQuery, from: number, to: number): Pick<Part, 'best' | 'worst'> {
  return isAscending ? { best: from, worst: to } : { best: to, worst: from };
}

function bestFirst<Of extends Part>({ isAscending }: SearchQuery, parts: readonly Of[]): readonly Of[] {
  return parts.toSorted((one, other) => (isAscending ? one.best - other.best : other.best - one.best));
}

/** Those among sorted sequences that a piece has. */
export function between(sequences: readonly number[], { from, to }: Piece): readonly number[] {
  return sequences.filter((sequence) => sequence >= from && sequence <= to);
}

type Run = { readonly from: number; readonly to: number; readonly length: number; readonly isWhole: boolean };

/** Joins chunks that follow each other. They are in ascending order. */
export function runsOf<Of extends Pick<Chunk, 'chunk'>>(chunks: readonly Of[], isWhole: (chunk: Of) => boolean): Run[] {
  const runs: { first: number; last: number; isWhole: boolean }[] = [];
  for (const each of chunks) {
    const [run, whole] = [runs.at(-1), isWhole(each)];
    if (run !== undefined && run.last === each.chunk - 1 && run.isWhole === whole) run.last = each.chunk;
    else runs.push({ first: each.chunk, last: each.chunk, isWhole: whole });
  }
  return runs.map(({ first, last, isWhole: whole }) => ({
    from: first * CHUNK_TRACES,
    to: (last + 1) * CHUNK_TRACES - 1,
    length: last - first,
    isWhole: whole,
  }));
}
