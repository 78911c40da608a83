/** Asks the file of the index: few candidates are read at once, more of them part by part in the order of the query. */

import type { SearchQuery } from '../../../domain/traces/search/trace-search-store.ts';
import type { IndexPlan } from '../../search/index-plan.ts';
import { comparePositions, isBehind } from '../../search/named-traces.ts';
import type { IndexQuery, IndexSelection, TraceIndex } from '../../search/trace-index.ts';
import type { Database } from './connection.ts';
import { CHUNK_TRACES } from './search-file.ts';
import { type Chunk, createSearchRows, type Piece, type Row, type SearchRows } from './search-rows.ts';
import type { SearchedFile } from './search-steps.ts';
import { anyBucket, matchFacets, matchText, mayHave, narrowest, projectToken } from './search-tokens.ts';
import { between, createWalk, runsOf, type Scope, toSelected } from './search-walk.ts';
import { createTurns } from './turns.ts';

/** So many candidates are read at once. */
const FEW = 4_096;
/** So many are checked sooner than looked for by their text. */
const FEW_ANYHOW = 64;
/** Sequences that one statement goes through: FTS5 needs a while where it finds nothing. */
const SLICE = 1_048_576;
const SLICE_WITH_TEXT = 131_072;
/** More buckets take longer to look for than they save. */
const BUCKETS_MAX = 512;

const EMPTY: IndexSelection = { select: async () => ({ sequences: [], last: null }), count: async () => 0 };

export function createSearchIndex({ searchedFile, noteFailure }: SearchedFile): TraceIndex {
  /** A search does without the index then. */
  const noteDamage = (error: unknown): null => {
    if (!noteFailure(error)) throw error;
    return null;
  };
  const noting = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  };
  return {
    open: async (asked) => {
      const file = await searchedFile();
      if (file === null) return null;
      const opened = await openSelection(file, asked).catch(noteDamage);
      if (opened === null) return null;
      const { select, count } = opened;
      return { select: (page) => noting(select(page)), count: (limit) => noting(count(limit)) };
    },
  };
}

async function openSelection(file: Database, { query, plan, leftOut }: IndexQuery): Promise<IndexSelection> {
  const rows = createSearchRows(file, query, plan);
  const match = matchPlan(rows, query, plan);
  const chunks = match === null ? [] : rows.chunks();
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (match === null || first === undefined || last === undefined) return EMPTY;
  const whole = { ...match, from: first.chunk * CHUNK_TRACES, to: (last.chunk + 1) * CHUNK_TRACES - 1 };
  const scope = { ...{ rows, query, chunks, whole, leftOut }, turns: createTurns() };
  const listed = await listSome(scope);
  if (listed.areAll) {
    const without = new Set(leftOut);
    const left = rows.rowsOf(listed.sequences.filter((sequence) => !without.has(sequence)));
    return selectAmong(
      left.toSorted((one, other) => comparePositions(one, other, query)),
      query,
    );
  }
  const span = (listed.sequences.at(-1) ?? whole.to) - whole.from;
  return {
    select: createWalk(scope, span / listed.sequences.length),
    count: (limit) => countUpTo(scope, { limit, isRanged: plan.ranges.length > 0 }),
  };
}

/** What FTS5 must find; null: there is no such trace. */
function matchPlan(
  rows: SearchRows,
  { projectNumber }: SearchQuery,
  plan: IndexPlan,
): Pick<Piece, 'facets' | 'text'> | null {
  const filter = matchFacets(projectNumber, plan);
  if (filter === null) return null;
  const facets = [filter];
  for (const range of plan.ranges) {
    const buckets = rows.buckets(range.number);
    const wanted = buckets.filter(({ bucket }) => mayHave(bucket, range));
    if (wanted.length === 0) return null;
    const count = (some: typeof buckets) => some.reduce((sum, { traces }) => sum + traces, 0);
    const isSelective = wanted.length <= BUCKETS_MAX && 2 * count(wanted) < count(buckets);
    if (isSelective) facets.push(anyBucket(projectNumber, range.number, wanted));
  }
  const text = matchText(plan.text);
  const narrow = narrowest(projectNumber, facets);
  return { facets: text !== null && narrow.join() === projectToken(projectNumber) ? [] : narrow, text };
}

/** The first candidates by sequence, all of them if there are few. */
async function listSome({ rows, whole, turns }: Scope) {
  if (whole.text !== null && whole.facets.length > 0) {
    const sequences = rows.sequences({ ...whole, text: null }, FEW_ANYHOW + 1);
    if (sequences.length <= FEW_ANYHOW) return { sequences, areAll: true };
  }
  const sequences: number[] = [];
  for (const slice of sliced(whole)) {
    sequences.push(...rows.sequences(slice, FEW + 1 - sequences.length));
    if (sequences.length > FEW) return { sequences, areAll: false };
    await turns.next();
  }
  return { sequences, areAll: true };
}

function selectAmong(rows: readonly Row[], query: SearchQuery): IndexSelection {
  return {
    select: async ({ after, limit }) =>
      toSelected(rows.filter((row) => isBehind(row, after, query)).slice(0, limit), limit),
    count: async (limit) => Math.min(limit, rows.length),
  };
}

type Count = { readonly limit: number; readonly isRanged: boolean };

async function countUpTo({ rows, chunks, whole, leftOut, turns }: Scope, { limit, isRanged }: Count): Promise<number> {
  const isWhole = (chunk: Chunk) => !isRanged && whole.facets.length > 0 && rows.isInside(chunk);
  // The longest runs that need no look at the rows come first: they may suffice.
  const runs = runsOf(chunks, isWhole).sort(
    (one, other) => Number(other.isWhole) - Number(one.isWhole) || other.length - one.length,
  );
  let count = 0;
  for (const { from, to, isWhole: areAllIn } of runs) {
    for (const slice of sliced({ ...whole, from, to })) {
      count += rows.count(slice, { isBound: !areAllIn, leftOut: between(leftOut, slice), limit: limit - count });
      if (count >= limit) return limit;
      await turns.next();
    }
  }
  return count;
}

function* sliced(piece: Piece): Generator<Piece, void> {
  const length = piece.text === null ? SLICE : SLICE_WITH_TEXT;
  for (let { from } = piece; from <= piece.to; from += length) {
    yield { ...piece, from, to: Math.min(piece.to, from + length - 1) };
  }
}
