/** Loads a trace with its spans page by page, and shows the first page early. */

import { callUnaryMethod, createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { TraceShareService } from '../../../gen/spandrel/v1/trace_shares_pb.js';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';

/** More than a screen shows; a larger page would block the browser for more than a frame. */
const SPANS_PER_PAGE = 500;
/** Covers the default limit of spans per trace. */
const PAGES_MAX = 200;

export function useTrace(traceId: string) {
  const transport = useTransport();
  const { getTrace } = TraceService.method;
  return useTracePages({
    queryKey: createConnectQueryKey({ schema: getTrace, transport, input: { traceId }, cardinality: undefined }),
    async readPage(page, signal) {
      const { view } = await callUnaryMethod(transport, getTrace, { traceId, ...page }, { signal });
      return view.case === 'trace' ? view.value : null;
    },
  });
}

/** The trace that a link leads to. */
export function useSharedTrace(token: string) {
  const transport = useTransport();
  const { getSharedTrace } = TraceShareService.method;
  return useTracePages({
    queryKey: createConnectQueryKey({ schema: getSharedTrace, transport, input: { token }, cardinality: undefined }),
    async readPage(page, signal) {
      const { trace } = await callUnaryMethod(transport, getSharedTrace, { token, ...page }, { signal });
      return trace ?? null;
    },
  });
}

type Page = { readonly pageSize: number; readonly pageToken: string };

type TraceSource = {
  readonly queryKey: ReturnType<typeof createConnectQueryKey>;
  readonly readPage: (page: Page, signal: AbortSignal) => Promise<Trace | null>;
};

export type TracePages = ReturnType<typeof useTracePages>;

function useTracePages({ queryKey, readPage }: TraceSource) {
  const found = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage({ pageSize: SPANS_PER_PAGE, pageToken: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (trace, pages) =>
      trace !== null && trace.nextPageToken !== '' && pages.length < PAGES_MAX ? trace.nextPageToken : undefined,
    structuralSharing: false,
  });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const pages = useMemo(() => found.data?.pages.filter((trace) => trace !== null) ?? [], [found.data]);
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
