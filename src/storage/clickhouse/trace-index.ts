/** Finds traces in ClickHouse. */

import type { SearchPosition } from '../../domain/traces/search/trace-search-store.ts';
import { NUMBER_COLUMNS, SORT_COLUMNS, within } from '../search/index-columns.ts';
import type { IndexPlan } from '../search/index-plan.ts';
import { lastKey } from '../search/named-traces.ts';
import type { IndexQuery, IndexSelection, TraceIndex } from '../search/trace-index.ts';
import { type ClickHouse, listOf, quote } from './client.ts';

type Row = SearchPosition & { readonly sequence: number };

/** `isBuilt`: whether the tables have all traces. */
export function createTraceIndex(clickHouse: ClickHouse, isBuilt: () => Promise<boolean>): TraceIndex {
  return {
    async open(asked) {
      if (!(await isBuilt())) return null;
      const { query, plan } = asked;
      const isAnyText = plan.text !== '' && (await hasAnyText(clickHouse, query.projectNumber));
      return createSelection(clickHouse, asked, isAnyText);
    },
  };
}

/** Whether traces have so much text that they are candidates of every search for one. Few projects have such a trace. */
async function hasAnyText({ rows }: ClickHouse, projectNumber: number): Promise<boolean> {
  const found = await rows(`SELECT 1 FROM traces WHERE project_number = ${projectNumber} AND has_any_text = 1 LIMIT 1`);
  return found.length > 0;
}

function createSelection(
  { rows }: ClickHouse,
  { query, plan, leftOut }: IndexQuery,
  isAnyText: boolean,
): IndexSelection {
  const fitting = `FROM traces FINAL WHERE ${[
    `project_number = ${query.projectNumber}`,
    ...boundsOf(query, plan),
    ...textOf(plan.text, isAnyText),
    ...(leftOut.length > 0 ? [`sequence NOT IN ${listOf(leftOut)}`] : []),
  ].join(' AND ')}`;
  const key = `toInt64(ifNull(${SORT_COLUMNS[query.sort]}, ${lastKey(query)}))`;
  const [compared, direction] = query.isAscending ? ['>', 'ASC'] : ['<', 'DESC'];
  return {
    async count(limit) {
      const [counted] = await rows<{ count: number }>(
        `SELECT count() AS count FROM (SELECT 1 ${fitting} LIMIT ${limit})`,
      );
      return counted?.count ?? 0;
    },
    async select({ after, limit }) {
      const behind =
        after === null ? '' : `AND (${key}, trace_id) ${compared} (toInt64(${after.key}), ${quote(after.traceId)})`;
      const found: Row[] = [];
      let isFull = false;
      await forEachWindow(query, after, async (window) => {
        const left = limit - found.length;
        const some = await rows<Row>(
          `SELECT sequence, ${key} AS key, trace_id AS traceId ${fitting} ${behind} ${window}
           ORDER BY key ${direction}, traceId ${direction} LIMIT ${left}`,
        );
        isFull = some.length >= left;
        // A trace whose start went back meanwhile is in two windows.
        const known = new Set(found.map(({ sequence }) => sequence));
        found.push(...some.filter(({ sequence }) => !known.has(sequence)));
        return isFull;
      });
      const end = isFull ? found.at(-1) : undefined;
      return {
        sequences: found.map(({ sequence }) => sequence),
        last: end === undefined ? null : { key: end.key, traceId: end.traceId },
      };
    },
  };
}

const HOUR_MS = 3_600_000;
/** How far back the newest traces are looked for first, then next. Longer steps read more than is needed, shorter ones ask more often. */
const WINDOWS_MS = [HOUR_MS, 8 * HOUR_MS, 64 * HOUR_MS, 512 * HOUR_MS];

/** After a window that took longer, all time before it is the last one: servers before 25.6 read every trace for each window. */
const SLOW_MS = 200;

/**
 * Calls `read` with conditions of windows of time that follow one another in the order of the query, and are all time together,
 * until it returns true. Without them the engine reads every trace to find the newest.
 */
async function forEachWindow(
  { sort, isAscending, started }: IndexQuery['query'],
  after: SearchPosition | null,
  read: (window: string) => Promise<boolean>,
): Promise<void> {
  const newestMs = Math.min(Date.now(), started.toMs, after?.key ?? Number.MAX_SAFE_INTEGER);
  let before = '';
  if (sort === 'started_at' && !isAscending) {
    for (const fromMs of WINDOWS_MS.map((lengthMs) => newestMs - lengthMs)) {
      if (fromMs <= started.fromMs) break;
      const startedMs = performance.now();
      if (await read(`AND started_at >= ${fromMs} ${before}`)) return;
      before = `AND started_at < ${fromMs}`;
      if (performance.now() - startedMs > SLOW_MS) break;
    }
  }
  await read(before);
}

function boundsOf({ started, updated, expiredBeforeMs }: IndexQuery['query'], plan: IndexPlan): readonly string[] {
  const { conditions, isNegated, ranges } = plan;
  const facets = conditions.map((anyOf) =>
    anyOf.length === 1 ? `has(facets, ${anyOf[0]})` : `hasAny(facets, ${listOf(anyOf)})`,
  );
  return [
    ...within('started_at', started),
    ...within('updated_at', updated),
    ...(expiredBeforeMs === null ? [] : [`inserted_at >= ${expiredBeforeMs}`]),
    ...ranges.map(({ number, from, to }) => `${NUMBER_COLUMNS[number]} BETWEEN ${from} AND ${to}`),
    ...(isNegated ? [`NOT (${['true', ...facets].join(' AND ')})`] : facets),
  ];
}

/** The index of texts is of no use for a disjunction. */
function textOf(text: string, isAnyText: boolean): readonly string[] {
  if (text === '') return [];
  const holds = `text LIKE ${quote(`%${text.replace(/[\\%_]/g, '\\$&')}%`)}`;
  return [isAnyText ? `(has_any_text = 1 OR ${holds})` : holds];
}
