/** Ranks the threads or the users of the index of traces in the database, and sums up some of them. */

import type { Sums } from '../../../domain/analytics/sums.ts';
import { type GroupPosition, type GroupSort, SCORED_TRACES_MAX } from '../../../domain/threads/group-store.ts';
import type { IndexedGroup, NamedGroups, RankQuery } from '../../analytics/indexed-sums.ts';
import { listOf, type RunPlanned } from './planned-query.ts';
import { SETTINGS, SUMS, tracesOf } from './summed-rows.ts';

const KEYS: Readonly<Record<GroupSort, string>> = {
  last_activity: 'max(started_at)',
  traces: 'count(*)',
  total_cost: 'coalesce(sum(total_cost_nano_usd), 0)',
  tokens: 'sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0))',
  errors: 'count(*) FILTER (WHERE has_error)',
};

export async function rankGroups(run: RunPlanned, query: RankQuery): Promise<readonly GroupPosition[]> {
  const { dimension, numbers, sort, isAscending, after, limit } = query;
  const isWanted = numbers === null ? 'number IS NOT NULL' : `number = ANY (${listOf(numbers, 'bigint')})`;
  const [compared, direction] = isAscending ? ['>', 'ASC'] : ['<', 'DESC'];
  const isAfter =
    after === null
      ? 'true'
      : `(key, "lastMs", number) ${compared} (${after.key}::float8, ${after.lastMs}, ${after.number})`;
  return await run<GroupPosition>(
    SETTINGS,
    `${tracesOf(query, dimension)} SELECT key, "lastMs", number FROM (
      SELECT number, max(started_at) AS "lastMs", (${KEYS[sort]})::float8 AS key FROM traces WHERE ${isWanted} GROUP BY number
    ) AS grouped WHERE ${isAfter} ORDER BY key ${direction}, "lastMs" ${direction}, number ${direction} LIMIT ${limit}`,
  );
}

type GroupRow = Sums & Pick<IndexedGroup, 'number' | 'first' | 'last' | 'latest'>;

export async function sumNamedGroups(run: RunPlanned, query: NamedGroups): Promise<readonly IndexedGroup[]> {
  const rows = await run<GroupRow>(
    SETTINGS,
    `${tracesOf(query, query.dimension)} SELECT number, ${SUMS},
      (array_agg(sequence ORDER BY started_at, sequence))[1] AS first,
      (array_agg(sequence ORDER BY started_at DESC, sequence DESC))[1] AS last,
      to_json((array_agg(sequence ORDER BY started_at DESC, sequence DESC))[1:${SCORED_TRACES_MAX}]) AS latest
    FROM traces WHERE number = ANY (${listOf(query.numbers, 'bigint')}) GROUP BY number`,
  );
  return rows.map(({ number, first, last, latest, ...sums }) => ({ number, first, last, latest, sums }));
}
