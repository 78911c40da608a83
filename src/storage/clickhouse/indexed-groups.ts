/** Ranks the threads or the users in ClickHouse, and sums up some of them. */

import type { Sums } from '../../domain/analytics/sums.ts';
import { type GroupPosition, type GroupSort, SCORED_TRACES_MAX } from '../../domain/threads/group-store.ts';
import type { IndexedGroup, NamedGroups, RankQuery } from '../analytics/indexed-sums.ts';
import { type ClickHouse, listOf } from './client.ts';
import { SUMS, tracesOf } from './summed-rows.ts';

const KEYS: Readonly<Record<GroupSort, string>> = {
  last_activity: 'max(started_at)',
  traces: 'count()',
  total_cost: 'sum(ifNull(total_cost_nano_usd, 0))',
  tokens: 'sum(ifNull(prompt_tokens, 0) + ifNull(completion_tokens, 0))',
  errors: 'countIf(has_error = 1)',
};

export async function rankGroups({ rows }: ClickHouse, query: RankQuery): Promise<readonly GroupPosition[]> {
  const { dimension, numbers, sort, isAscending, after, limit } = query;
  const isWanted = numbers === null ? 'number IS NOT NULL' : `number IN ${listOf(numbers)}`;
  const [compared, direction] = isAscending ? ['>', 'ASC'] : ['<', 'DESC'];
  const isAfter =
    after === null
      ? 'true'
      : `(key, lastMs, number) ${compared} (toFloat64(${after.key}), toInt64(${after.lastMs}), toUInt64(${after.number}))`;
  return await rows<GroupPosition>(
    `${tracesOf(query, dimension)} SELECT key, lastMs, number FROM (
      SELECT assumeNotNull(number) AS number, max(started_at) AS lastMs, toFloat64(${KEYS[sort]}) AS key
      FROM summed WHERE ${isWanted} GROUP BY number
    ) WHERE ${isAfter} ORDER BY key ${direction}, lastMs ${direction}, number ${direction} LIMIT ${limit}`,
  );
}

type GroupRow = Sums & Pick<IndexedGroup, 'number' | 'first' | 'last' | 'latest'>;

export async function sumNamedGroups({ rows }: ClickHouse, query: NamedGroups): Promise<readonly IndexedGroup[]> {
  const found = await rows<GroupRow>(
    `${tracesOf(query, query.dimension)} SELECT assumeNotNull(number) AS number, ${SUMS},
      argMin(sequence, (started_at, sequence)) AS first, argMax(sequence, (started_at, sequence)) AS last,
      arraySlice(arrayMap(each -> each.2, arrayReverseSort(groupArray((started_at, sequence)))), 1, ${SCORED_TRACES_MAX}) AS latest
    FROM summed WHERE number IN ${listOf(query.numbers)} GROUP BY number`,
  );
  return found.map(({ number, first, last, latest, ...sums }) => ({ number, first, last, latest, sums }));
}
