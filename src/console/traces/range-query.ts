/** Queries over a range. An open range ends now, so every fetch computes its bounds again. */

import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { callUnaryMethod, createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type Bounds, type Range, readBounds } from './range.ts';

type RangeRequest<I extends DescMessage, O extends DescMessage> = {
  readonly method: DescMethodUnary<I, O>;
  readonly range: Range;
  /** The request without its range; part of the query key. */
  readonly input: MessageInitShape<I>;
  readonly toRangeInput: (bounds: Bounds) => MessageInitShape<I>;
  readonly enabled?: boolean;
  /** Tells queries apart that differ in `toRangeInput` alone. */
  readonly name?: string;
};

type Answered<O extends DescMessage> = { readonly bounds: Bounds; readonly answer: MessageShape<O> };

export function useRangeQuery<I extends DescMessage, O extends DescMessage>(request: RangeRequest<I, O>) {
  const { queryKey, ask } = useRangeRequest(request, 'finite');
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(readBounds(request.range), null, signal),
    enabled: request.enabled !== false,
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
}

type Page = { readonly token: string; readonly bounds: Bounds };

type PagedRangeRequest<I extends DescMessage, O extends DescMessage> = RangeRequest<I, O> & {
  /** Empty on the last page. */
  readonly nextPageToken: (answer: MessageShape<O>) => string | undefined;
  /** Whether pages that were read before are not read again. */
  readonly isFrozen?: boolean;
};

/** All pages keep the bounds of the first one. */
export function useRangePages<I extends DescMessage, O extends DescMessage>(request: PagedRangeRequest<I, O>) {
  const { queryKey, ask } = useRangeRequest(request, 'infinite');
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      ask(pageParam?.bounds ?? readBounds(request.range), pageParam?.token ?? null, signal),
    ...(request.isFrozen && { staleTime: Number.POSITIVE_INFINITY }),
    enabled: request.enabled !== false,
    initialPageParam: null as Page | null,
    getNextPageParam: ({ answer, bounds }: Answered<O>): Page | undefined => {
      const token = request.nextPageToken(answer);
      return token ? { token, bounds } : undefined;
    },
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
}

function useRangeRequest<I extends DescMessage, O extends DescMessage>(
  { method, range, input, toRangeInput, name }: RangeRequest<I, O>,
  cardinality: 'finite' | 'infinite',
) {
  const transport = useTransport();
  const key = createConnectQueryKey({ schema: method, transport, input, cardinality: undefined });
  return {
    queryKey: [...key, cardinality, range.range, range.from, range.to, name],
    async ask(bounds: Bounds, pageToken: string | null, signal: AbortSignal): Promise<Answered<O>> {
      const whole = { ...input, ...toRangeInput(bounds), ...(pageToken && { pageToken }) } as MessageInitShape<I>;
      return { bounds, answer: await callUnaryMethod(transport, method, whole, { signal }) };
    },
  };
}
