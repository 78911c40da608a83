/**
 * Searches in the index of traces. The planner cannot know how many traces have several facets or triples at once, so each
 * statement says how to find them: by the index of terms where few traces fit, else in the order of the query.
 */

import pg from 'pg';
import { type SearchPosition, TOTAL_MAX } from '../../../domain/traces/search/trace-search-store.ts';
import { NUMBER_COLUMNS, SORT_COLUMNS, within } from '../../search/index-columns.ts';
import type { IndexPlan } from '../../search/index-plan.ts';
import { lastKey } from '../../search/named-traces.ts';
import type { IndexQuery, IndexSelection, SelectedPage, TraceIndex } from '../../search/trace-index.ts';
import { createRunPlanned, listOf, type RunPlanned } from './planned-query.ts';
import type { Pool } from './pool.ts';
import { triplesOf } from './text-triples.ts';

const ALWAYS_KNOWN: readonly string[] = [SORT_COLUMNS.started_at, SORT_COLUMNS.updated_at];

/** Settings of one statement. */
const PLANNED = 'SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0';
export const BY_TERM = `${PLANNED}; SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL work_mem = '64MB'`;
const IN_ORDER = `${PLANNED}; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`;
/** From here on a page is found sooner in the order of the query than by sorting all that fit. */
const MANY = TOTAL_MAX + 1;
/** The longest list that a trace is compared with value by value. */
const LIST_MAX = 16;
/** Further characters of a text would leave out next to nothing. */
const SOUGHT_LENGTH_MAX = 64;

/** `isOwn`: whether the index has what is stored. */
export function createTraceIndex(pool: Pool, isOwn: () => Promise<boolean>): TraceIndex {
  const run = createRunPlanned(pool);
  return { open: async (asked) => ((await isOwn()) ? createSelection(run, asked) : null) };
}

type Row = SearchPosition & { readonly sequence: number };

function createSelection(run: RunPlanned, { query, plan, leftOut }: IndexQuery): IndexSelection {
  const terms = termsOf(plan, overlaps);
  const bounds = boundsOf(query, plan);
  if (leftOut.length > 0) bounds.push(`trace_sequence <> ALL (${listOf(leftOut, 'bigint')})`);
  // The addition keeps the planner from reading the whole project instead, and comparing each trace with all values.
  const project = plan.conditions.some(isLong) ? 'project_number + 0' : 'project_number';
  const fittingOf = (of: string, found: readonly string[]) =>
    `FROM indexed_traces WHERE ${[`${of} = ${query.projectNumber}`, ...found, ...bounds].join(' AND ')}`;
  const byTerm = fittingOf(project, terms);
  const oneByOne = fittingOf('project_number', termsOf(plan, hasOneOf));
  const column = SORT_COLUMNS[query.sort];
  const last = lastKey(query);
  const [sign, direction] = query.isAscending ? ['>', 'ASC'] : ['<', 'DESC'];
  /** How many fit, up to MANY, once that is known. */
  let counted: number | null = null;
  /** Whether pages are read in order. */
  let isWalk = terms.length === 0;

  async function count(limit: number): Promise<number> {
    if (counted !== null && (counted < MANY || limit <= MANY)) return Math.min(counted, limit);
    const [settings, fitting] = terms.length > 0 ? [BY_TERM, byTerm] : [PLANNED, oneByOne];
    const some = `SELECT count(*) AS count FROM (SELECT ${fitting} LIMIT ${limit}) AS counted`;
    return (await run<{ count: number }>(settings, some))[0]?.count ?? 0;
  }

  /** Null: too many fit. */
  async function sortFitting({ after, limit }: SelectedPage): Promise<readonly Row[] | null> {
    const key = `coalesce(${column}, ${last})`;
    const found = await run<Row & { readonly count: number }>(
      BY_TERM,
      `WITH fitting AS MATERIALIZED (
         SELECT trace_sequence AS sequence, ${key} AS key, trace_id AS "traceId" ${byTerm} ${behind(key, after)} LIMIT ${MANY}
       ) SELECT *, (SELECT count(*) FROM fitting) AS count FROM fitting
       ORDER BY key ${direction}, "traceId" ${direction} LIMIT ${limit}`,
    );
    const fits = found[0]?.count ?? 0;
    if (after === null) counted = fits;
    isWalk = fits === MANY;
    return fits < MANY ? found : null;
  }

  async function walk({ after, limit }: SelectedPage): Promise<readonly Row[]> {
    const settings = terms.length > 0 ? IN_ORDER : PLANNED;
    const list = (rest: string) =>
      run<Row>(
        settings,
        `SELECT trace_sequence AS sequence, ${column} AS key, trace_id AS "traceId" ${oneByOne} ${rest}`,
      );
    const isBehindKeys = after?.key === last;
    const rows = isBehindKeys
      ? []
      : await list(
          `${behind(column, after)} AND ${column} IS NOT NULL
           ORDER BY ${column} ${direction}, trace_id ${direction} LIMIT ${limit}`,
        );
    if (rows.length === limit || ALWAYS_KNOWN.includes(column)) return rows;
    const isBehind = isBehindKeys ? `AND trace_id ${sign} ${pg.escapeLiteral(after.traceId)}` : '';
    const others = await list(
      `${isBehind} AND ${column} IS NULL ORDER BY trace_id ${direction} LIMIT ${limit - rows.length}`,
    );
    return [...rows, ...others.map((row) => ({ ...row, key: last }))];
  }

  function behind(key: string, after: SearchPosition | null): string {
    return after === null ? '' : `AND (${key}, trace_id) ${sign} (${after.key}, ${pg.escapeLiteral(after.traceId)})`;
  }

  return {
    count,
    async select(page) {
      const rows = (isWalk ? null : await sortFitting(page)) ?? (await walk(page));
      const end = rows.length < page.limit ? undefined : rows.at(-1);
      return {
        sequences: rows.map(({ sequence }) => sequence),
        last: end === undefined ? null : { key: end.key, traceId: end.traceId },
      };
    },
  };
}

/** The conditions that the index of terms finds. */
function termsOf({ conditions, isNegated, text }: IndexPlan, hasAny: (facets: readonly number[]) => string) {
  const triples = triplesOf(text.slice(0, SOUGHT_LENGTH_MAX));
  return [
    ...(isNegated ? [] : facetsOf(conditions, hasAny)),
    ...(triples.length > 0 ? [`triples @> ${listOf(triples, 'smallint')}`] : []),
  ];
}

function facetsOf(conditions: IndexPlan['conditions'], hasAny: (facets: readonly number[]) => string) {
  const all = conditions.filter(({ length }) => length === 1).flat();
  const any = conditions.filter(({ length }) => length !== 1);
  return [...(all.length > 0 ? [`facets @> ${listOf(all, 'bigint')}`] : []), ...any.map(hasAny)];
}

function isLong({ length }: readonly number[]): boolean {
  return length > LIST_MAX;
}

/** In short lists, because the index compares each trace that it finds with all of a list. */
export function overlaps(facets: readonly number[]): string {
  const lists = Array.from({ length: Math.ceil(facets.length / LIST_MAX) || 1 }, (_, index) =>
    facets.slice(index * LIST_MAX, (index + 1) * LIST_MAX),
  );
  return `(${lists.map((list) => `facets && ${listOf(list, 'bigint')}`).join(' OR ')})`;
}

/** The same for one trace after the other: a long list is hashed. */
function hasOneOf(facets: readonly number[]): string {
  if (!isLong(facets)) return overlaps(facets);
  return `EXISTS (SELECT FROM unnest(facets) AS facet WHERE facet = ANY (${listOf(facets, 'bigint')}))`;
}

function boundsOf({ started, updated, expiredBeforeMs }: IndexQuery['query'], plan: IndexPlan): string[] {
  const { isNegated, ranges, conditions } = plan;
  return [
    ...within('started_at', started),
    ...within('updated_at', updated),
    ...(expiredBeforeMs === null ? [] : [`inserted_at >= ${expiredBeforeMs}`]),
    ...ranges.map(({ number, from, to }) => `${NUMBER_COLUMNS[number]} BETWEEN ${from} AND ${to}`),
    ...(isNegated ? [`NOT (${['true', ...facetsOf(conditions, hasOneOf)].join(' AND ')})`] : []),
  ];
}
