/**
 * Searches in the index of traces. The planner cannot know how many traces have several facets or triples at once, so each
 * statement says how to find them: by the index of terms where few traces fit, else in the order of the query.
 */

import pg from 'pg';
import {
  EVER,
  type InstantRange,
  type SearchPosition,
  TOTAL_MAX,
} from '../../../domain/traces/search/trace-search-store.ts';
import type { RangedNumber } from '../../search/index-plan.ts';
import { lastKey } from '../../search/named-traces.ts';
import type { IndexQuery, IndexSelection, Selected, TraceIndex } from '../../search/trace-index.ts';
import { createRunPlanned, listOf, PLANNED, type RunPlanned } from './planned-query.ts';
import type { Pool } from './pool.ts';
import { triplesOf } from './text-triples.ts';

const KEYS = {
  started_at: 'started_at',
  updated_at: 'updated_at',
  total_cost: 'total_cost_nano_usd',
  total_time_ms: 'total_time_ms',
  first_token_ms: 'first_token_ms',
} as const;
const ALWAYS_KNOWN: readonly string[] = [KEYS.started_at, KEYS.updated_at];

const NUMBERS: Readonly<Record<RangedNumber, string>> = {
  totalTimeMs: 'total_time_ms',
  totalCostNanoUsd: 'total_cost_nano_usd',
  totalTokens: 'total_tokens',
  firstTokenMs: 'first_token_ms',
};

/** Settings of one statement. */
const BY_TERM = `${PLANNED}; SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off`;
const IN_ORDER = `${PLANNED}; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`;
/** From here on a page is found sooner in the order of the query than by sorting all that fit. */
const MANY = TOTAL_MAX + 1;
/** Further characters of a text would leave out next to nothing. */
const SOUGHT_LENGTH_MAX = 64;

export function createTraceIndex(pool: Pool): TraceIndex {
  const run = createRunPlanned(pool);
  return { open: async (asked) => createSelection(run, asked) };
}

type Row = SearchPosition & { readonly sequence: number };

function createSelection(run: RunPlanned, { query, plan, leftOut }: IndexQuery): IndexSelection {
  const terms = termsOf(plan);
  const conditions = [...terms, ...boundsOf(query, plan)];
  if (leftOut.length > 0) conditions.push(`trace_sequence <> ALL (${listOf(leftOut, 'bigint')})`);
  const fitting = `FROM indexed_traces WHERE ${conditions.join(' AND ')}`;
  const key = KEYS[query.sort];
  const [sign, direction] = query.isAscending ? ['>', 'ASC'] : ['<', 'DESC'];
  const counted = new Map<number, Promise<number>>();

  async function countNow(limit: number): Promise<number> {
    const some = `SELECT count(*) AS count FROM (SELECT ${fitting} LIMIT ${limit}) AS counted`;
    return (await run<{ count: number }>(terms.length > 0 ? BY_TERM : PLANNED, some))[0]?.count ?? 0;
  }

  function count(limit: number): Promise<number> {
    const counting = counted.get(limit) ?? countNow(limit);
    counted.set(limit, counting);
    return counting;
  }

  async function list(behind: string, order: string, limit: number): Promise<readonly Row[]> {
    const isCounted = terms.length > 0;
    return await run<Row>(
      isCounted ? ((await count(MANY)) < MANY ? BY_TERM : IN_ORDER) : PLANNED,
      `SELECT trace_sequence AS sequence, ${key} AS key, trace_id AS "traceId" ${fitting}${behind}
        ORDER BY ${order} LIMIT ${limit}`,
    );
  }

  async function select({ after, limit }: Parameters<IndexSelection['select']>[0]): Promise<Selected> {
    const keyless = { key: lastKey(query), traceId: after === null ? '' : after.traceId };
    const isBehindKeys = after?.key === keyless.key;
    const isId = after === null ? '' : pg.escapeLiteral(after.traceId);
    const rows: Row[] = [];
    if (!isBehindKeys) {
      const behind = after === null ? '' : ` AND (${key}, trace_id) ${sign} (${after.key}, ${isId})`;
      rows.push(
        ...(await list(`${behind} AND ${key} IS NOT NULL`, `${key} ${direction}, trace_id ${direction}`, limit)),
      );
    }
    if (rows.length < limit && !ALWAYS_KNOWN.includes(key)) {
      const behind = isBehindKeys ? ` AND trace_id ${sign} ${isId}` : '';
      const others = await list(`${behind} AND ${key} IS NULL`, `trace_id ${direction}`, limit - rows.length);
      rows.push(...others.map((row) => ({ ...row, key: keyless.key })));
    }
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      sequences: rows.map(({ sequence }) => sequence),
      last: last === undefined ? null : { key: last.key, traceId: last.traceId },
    };
  }

  return { select, count };
}

/** Conditions that the index of terms finds. */
function termsOf({ conditions, isNegated, text }: IndexQuery['plan']): readonly string[] {
  const single = conditions.filter(({ length }) => length === 1).flat();
  const facets = conditions.filter(({ length }) => length !== 1).map((anyOf) => `facets && ${listOf(anyOf, 'bigint')}`);
  if (single.length > 0) facets.push(`facets @> ${listOf(single, 'bigint')}`);
  const triples = triplesOf(text.slice(0, SOUGHT_LENGTH_MAX));
  return [...(isNegated ? [] : facets), ...(triples.length > 0 ? [`triples @> ${listOf(triples, 'smallint')}`] : [])];
}

function boundsOf(
  { projectNumber, started, updated, expiredBeforeMs }: IndexQuery['query'],
  plan: IndexQuery['plan'],
): readonly string[] {
  return [
    `project_number = ${projectNumber}`,
    ...within('started_at', started),
    ...within('updated_at', updated),
    ...(expiredBeforeMs === null ? [] : [`inserted_at >= ${expiredBeforeMs}`]),
    ...plan.ranges.map(({ number, from, to }) => `${NUMBERS[number]} BETWEEN ${from} AND ${to}`),
    ...(plan.isNegated ? [`NOT (${['true', ...termsOf({ ...plan, isNegated: false, text: '' })].join(' AND ')})`] : []),
  ];
}

function within(column: string, { fromMs, toMs }: InstantRange): readonly string[] {
  return [
    ...(fromMs > EVER.fromMs ? [`${column} >= ${fromMs}`] : []),
    ...(toMs < EVER.toMs ? [`${column} <= ${toMs}`] : []),
  ];
}
