import { useInfiniteQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type ExperimentResult, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';

const PAGE_SIZE = 50;

/** A run with the results that were read so far, in the order of their entries; null: of no run. */
export function useResults(slugOrId: string, runId: string | null) {
  const found = useInfiniteQuery(
    ExperimentService.method.getExperimentRun,
    runId === null ? skipToken : { slugOrId, runId, pageSize: PAGE_SIZE, pageToken: '' },
    { pageParamKey: 'pageToken', getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const [first] = found.data?.pages ?? [];
  return {
    found,
    run: first?.run,
    summary: first?.summary,
    results: found.data?.pages.flatMap(({ data }) => data) ?? [],
  };
}

/** Reads on until the results go as far as those that they are compared with, and says whether they do. */
export function useCatchUp({ found, results }: ReturnType<typeof useResults>, lastIndex: number): boolean {
  const reached = results.at(-1)?.index ?? -1;
  const { hasNextPage, isFetching, isError, fetchNextPage } = found;
  const isBehind = reached <= lastIndex && hasNextPage && !isError;
  useEffect(() => {
    if (isBehind && !isFetching) void fetchNextPage();
  }, [isBehind, isFetching, fetchNextPage]);
  return !isBehind;
}

/** What tells results of one run apart, and finds their like in another. */
export function placeOf({ index, targetId }: ExperimentResult): string {
  return JSON.stringify([index ?? null, targetId ?? null]);
}
