/** The results of a run, alone or of several beside those of their baseline, as far as they are loaded. */

import { callUnaryMethod, createConnectQueryKey, useInfiniteQuery, useTransport } from '@connectrpc/connect-query';
import { useInfiniteQuery as usePages } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { PAGING } from '../design/page.tsx';
import { type Answers, type EntryRow, keyOf, mergeComparisons } from './entry-rows.ts';

const PAGE_SIZE = 50;

/** In the order of their entries. */
export function useResults(slugOrId: string, runId: string) {
  const found = useInfiniteQuery(
    ExperimentService.method.getExperimentRun,
    { slugOrId, runId, pageSize: PAGE_SIZE, pageToken: '' },
    PAGING,
  );
  const [first] = found.data?.pages ?? [];
  const results = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const rows = results.map(
    (entry): EntryRow => ({ key: keyOf(entry), entry, baseline: undefined, results: [entry], changes: [] }),
  );
  return { found, first, rows };
}

/** For each run the token of its next page; null behind the last one. */
type Tokens = readonly (string | null)[];

/** In the order of the baseline; entries that it lacks follow. */
export function useComparisons(slugOrId: string, runIds: readonly string[], baseline: string) {
  const transport = useTransport();
  const { compareExperimentRuns } = ExperimentService.method;
  const input = { slugOrId, base: baseline, other: JSON.stringify(runIds) };
  const found = usePages({
    queryKey: createConnectQueryKey({ schema: compareExperimentRuns, transport, input, cardinality: undefined }),
    queryFn: ({ pageParam, signal }) => {
      const ask = async (other: string, pageToken: string | null | undefined) =>
        pageToken === null
          ? null
          : await callUnaryMethod(
              transport,
              compareExperimentRuns,
              { slugOrId, base: baseline, other, pageSize: PAGE_SIZE, pageToken: pageToken ?? '' },
              { signal },
            );
      return Promise.all(runIds.map((other, index) => ask(other, pageParam?.[index])));
    },
    initialPageParam: null as Tokens | null,
    getNextPageParam: (answers: Answers): Tokens | undefined => {
      const tokens = answers.map((answer) => answer?.nextPageToken || null);
      return tokens.every((token) => token === null) ? undefined : tokens;
    },
    structuralSharing: false,
  });
  const pages: readonly Answers[] | undefined = found.data?.pages;
  const rows = useMemo(() => mergeComparisons(pages ?? [], runIds.length), [pages, runIds.length]);
  return { found, firsts: pages?.[0] ?? [], rows };
}
