/** A trace with its spans, which come in pages: the first is shown while the others follow. */

import { callUnaryMethod, createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';

/** More than is in sight; reading still more at once would keep the browser busy for longer than a frame. */
const SPANS_PER_PAGE = 500;
/** As many spans as a trace may have unless the operator allows more. */
const PAGES_MAX = 200;

export function useTrace(traceId: string) {
  const transport = useTransport();
  const { getTrace } = TraceService.method;
  const found = useInfiniteQuery({
    queryKey: createConnectQueryKey({ schema: getTrace, transport, input: { traceId }, cardinality: undefined }),
    queryFn({ pageParam, signal }) {
      const input = { traceId, pageSize: SPANS_PER_PAGE, pageToken: pageParam };
      return callUnaryMethod(transport, getTrace, input, { signal });
    },
    initialPageParam: '',
    getNextPageParam: ({ view }, pages) =>
      view.case === 'trace' && view.value.nextPageToken !== '' && pages.length < PAGES_MAX
        ? view.value.nextPageToken
        : undefined,
    structuralSharing: false,
  });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const pages = useMemo(
    () => found.data?.pages.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])) ?? [],
    [found.data],
  );
  const spans = useMemo(() => pages.flatMap((each) => each.spans), [pages]);
  const trace = useMemo(() => withAllEvaluations(pages), [pages]);
  return { found, trace, spans };
}

/** A long trace gives evaluations on its first pages. */
function withAllEvaluations(pages: readonly Trace[]): Trace | null {
  const [first] = pages;
  if (!first) return null;
  return pages.length === 1 ? first : { ...first, evaluations: pages.flatMap(({ evaluations }) => evaluations) };
}
