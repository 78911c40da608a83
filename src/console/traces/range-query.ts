/** Questions about a range. One that goes up to now moves: whenever it is asked anew, now is another. */

import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { callUnaryMethod, createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, type UseQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type Bounds, type Range, readBounds } from './bounds.ts';

type RangeQuestion<I extends DescMessage, O extends DescMessage> = {
  readonly method: DescMethodUnary<I, O>;
  readonly range: Range;
  /** All of the request but its range, which tells questions apart. */
  readonly input: MessageInitShape<I>;
  readonly place: (bounds: Bounds) => MessageInitShape<I>;
};

type Answered<O extends DescMessage> = { readonly bounds: Bounds; readonly answer: MessageShape<O> };

export function useRangeQuery<I extends DescMessage, O extends DescMessage>(question: RangeQuestion<I, O>) {
  const { queryKey, ask } = useQuestion(question, 'finite');
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(readBounds(question.range), null, signal),
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
}

type Page = { readonly token: string; readonly bounds: Bounds };

type PagedQuestion<I extends DescMessage, O extends DescMessage> = RangeQuestion<I, O> & {
  /** Empty on the last page. */
  readonly nextPageToken: (answer: MessageShape<O>) => string | undefined;
} & Pick<UseQueryOptions, 'enabled'>;

/** All pages of a walk are of the range that its first one asked about. */
export function useRangePages<I extends DescMessage, O extends DescMessage>(question: PagedQuestion<I, O>) {
  const { queryKey, ask } = useQuestion(question, 'infinite');
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      ask(pageParam?.bounds ?? readBounds(question.range), pageParam?.token ?? null, signal),
    initialPageParam: null as Page | null,
    getNextPageParam: ({ answer, bounds }: Answered<O>): Page | undefined => {
      const token = question.nextPageToken(answer);
      return token ? { token, bounds } : undefined;
    },
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
}

function useQuestion<I extends DescMessage, O extends DescMessage>(
  { method, range, input, place }: RangeQuestion<I, O>,
  cardinality: 'finite' | 'infinite',
) {
  const transport = useTransport();
  const key = createConnectQueryKey({ schema: method, transport, input, cardinality: undefined });
  return {
    queryKey: [...key, cardinality, range.range, range.from, range.to],
    async ask(bounds: Bounds, pageToken: string | null, signal: AbortSignal): Promise<Answered<O>> {
      const whole = { ...input, ...place(bounds), ...(pageToken && { pageToken }) } as MessageInitShape<I>;
      return { bounds, answer: await callUnaryMethod(transport, method, whole, { signal }) };
    },
  };
}
