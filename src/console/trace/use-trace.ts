/** Loads a trace with its spans page by page, and shows the first page early. */

import { callUnaryMethod, createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';

/** More than a screen shows; a larger page would block the browser for more than a frame. */
const SPANS_PER_PAGE = 500;
/** Covers the default limit of spans per trace. */
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
  const shown = useDoubled(pages, !hasNextPage || isFetchNextPageError);
  const spans = useMemo(() => shown.flatMap((each) => each.spans), [shown]);
  const trace = useMemo(() => withAllEvaluations(shown), [shown]);
  return { found, trace, spans };
}

/**
 * While more pages load, what is shown grows when there are twice as many: what the zones compute of all spans at each growth
 * would else cost the square of their number.
 */
function useDoubled(pages: readonly Trace[], isWhole: boolean): readonly Trace[] {
  const count = isWhole || pages.length === 0 ? pages.length : 2 ** Math.floor(Math.log2(pages.length));
  const [first, last] = [pages[0], pages[count - 1]];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pages between them are the same as long as these are.
  return useMemo(() => pages.slice(0, count), [first, last, count]);
}

/** Joins the evaluations, which a long trace returns over several pages. */
function withAllEvaluations(pages: readonly Trace[]): Trace | null {
  const [first] = pages;
  if (!first) return null;
  return pages.length === 1 ? first : { ...first, evaluations: pages.flatMap(({ evaluations }) => evaluations) };
}
