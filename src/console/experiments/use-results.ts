import { useInfiniteQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type ExperimentResult, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';

const PAGE_SIZE = 50;

/** A run with its results loaded so far, in order of their entries. With `runId` null it loads nothing. */
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

/** Loads pages until the results reach `lastIndex`; returns whether they do. */
export function useReadUpTo({ found, results }: ReturnType<typeof useResults>, lastIndex: number): boolean {
  const reached = results.at(-1)?.index ?? -1;
  const { hasNextPage, isFetching, isError, fetchNextPage } = found;
  const isBehind = reached <= lastIndex && hasNextPage && !isError;
  useEffect(() => {
    if (isBehind && !isFetching) void fetchNextPage();
  }, [isBehind, isFetching, fetchNextPage]);
  return !isBehind;
}

/** Identifies a result within its run, and its counterpart in another run. */
export function resultKey({ index, targetId }: ExperimentResult): string {
  return JSON.stringify([index ?? null, targetId ?? null]);
}
