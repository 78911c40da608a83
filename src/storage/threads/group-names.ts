/** Finds the threads or users that a text is about: those with it in the texts of a trace, and those whose names begin with it. */

import { readDimensions } from '../../domain/analytics/dimensions.ts';
import type { GroupsQuery } from '../../domain/threads/group-store.ts';
import { foldText } from '../../domain/traces/search/fold-text.ts';
import type { Condition } from '../../domain/traces/search/trace-filter.ts';
import {
  ALL_TRACES,
  EVER,
  type SearchPosition,
  type TraceSearch,
} from '../../domain/traces/search/trace-search-store.ts';
import { type AnalyticsRunner, readTraces } from '../analytics/trace-scan.ts';
import type { SearchRunner } from '../search/search-runner.ts';
import { queryInBatches } from '../transaction.ts';

export type NameReads = {
  readonly summing: AnalyticsRunner;
  readonly searching: SearchRunner;
  readonly search: Pick<TraceSearch, 'find' | 'listValues'>;
};

/** Most traces with the text that are read, the newest first. */
const TRACES_MAX = 2_000;
const TRACES_AT_ONCE = 500;
/** After it no further page of them is read. */
const FIND_MAX_MS = 3_000;
/** Most names that begin with the text. */
const NAMES_MAX = 1_000;
const NEEDS = { metadata: true, spans: false };

export async function findNames(
  deps: NameReads,
  query: GroupsQuery,
): Promise<{ readonly names: ReadonlySet<string>; readonly isPartial: boolean }> {
  const [spoken, begun] = [await findSpoken(deps, query), await findBegun(deps, query)];
  return {
    names: new Set([query.text, ...spoken.names, ...begun.names]),
    isPartial: spoken.isPartial || begun.isPartial,
  };
}

/** The names in the traces with the text. */
async function findSpoken({ summing, searching, search }: NameReads, query: GroupsQuery) {
  const { projectNumber, expiredBeforeMs, fromMs, toMs, text, field } = query;
  const endsAtMs = searching.nowMs() + FIND_MAX_MS;
  const ids: string[] = [];
  let after: SearchPosition | null = null;
  do {
    const found = await search.find({
      ...{ ...ALL_TRACES, projectNumber, expiredBeforeMs, started: { fromMs, toMs }, after, limit: TRACES_AT_ONCE },
      ...({ sort: 'started_at', isAscending: false } as const),
      filter: { conditions: conditionsOf(query), isNegated: false, text: foldText(text) },
    });
    ids.push(...found.traces.map(({ traceId }) => traceId));
    after = found.next;
  } while (after !== null && ids.length < TRACES_MAX && searching.nowMs() < endsAtMs);
  const { queries, runQuery, idsPerQuery } = searching;
  const find = (some: readonly string[]) => runQuery(queries.findByIds, { projectNumber, ids: some });
  const sequences = (await queryInBatches(ids, idsPerQuery, find)).map(({ sequence }) => sequence);
  const names = new Set<string>();
  for await (const part of readTraces(summing, projectNumber, { sequences, needs: NEEDS })) {
    for (const { metadataJson } of part) {
      const { threadId, userId } = readDimensions(metadataJson ?? '{}');
      const name = field === 'thread_id' ? threadId : userId;
      if (name !== null) names.add(name);
    }
  }
  return { names, isPartial: after !== null };
}

/** Names in the newest traces that begin with the text. */
async function findBegun({ search }: NameReads, query: GroupsQuery) {
  const { projectNumber, expiredBeforeMs, fromMs, toMs, text, field } = query;
  const { facets, isComplete } = await search.listValues({
    ...{ projectNumber, expiredBeforeMs, started: { fromMs, toMs }, updated: EVER, sort: 'started_at' as const },
    filter: { conditions: conditionsOf(query), isNegated: false, text: '' },
    facets: [{ name: `metadata.${field}`, of: '' }],
    prefix: foldText(text),
    limit: NAMES_MAX,
  });
  const values = facets[0] ?? [];
  return { names: values.map(({ value }) => value), isPartial: !isComplete || values.length >= NAMES_MAX };
}

/** The traces with a name that fit the query. */
function conditionsOf({ field, conditions: { userId, customerId, label } }: GroupsQuery): readonly Condition[] {
  const wanted = [
    ['metadata.key', field],
    ['metadata.user_id', userId],
    ['metadata.customer_id', customerId],
    ['metadata.labels', label],
  ] as const;
  return wanted.flatMap(([name, value]) => (value === null ? [] : [{ name, of: '', values: [value] }]));
}
