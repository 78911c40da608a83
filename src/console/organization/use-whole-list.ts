/** Lists that are of use only whole, such as the names of members. */

import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { callUnaryMethod, createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { type Page, readWhole, type Whole } from './read-whole.ts';

const FRESH_MS = 60_000;

const NOTHING: Whole<never> = { items: [], isCut: false };

type WholeListRequest<I extends DescMessage, O extends DescMessage, Item> = {
  readonly method: DescMethodUnary<I, O>;
  /** The request without its page token. */
  readonly input: MessageInitShape<I>;
  readonly toPage: (answer: MessageShape<O>) => Page<Item>;
  readonly enabled: boolean;
};

/** Has no items until all are read. */
export function useWholeList<I extends DescMessage, O extends DescMessage, Item>(
  request: WholeListRequest<I, O, Item>,
): Whole<Item> {
  const { method, input, toPage, enabled } = request;
  const transport = useTransport();
  const key = createConnectQueryKey({ schema: method, transport, input, cardinality: undefined });
  const { data } = useQuery({
    queryKey: [...key, 'whole'],
    enabled,
    structuralSharing: false,
    // Changes made here fetch it again at once; those of others may wait, because it can be many requests.
    staleTime: FRESH_MS,
    queryFn: ({ signal }) =>
      readWhole(async (pageToken) => {
        const page = { ...input, pageToken } as MessageInitShape<I>;
        return toPage(await callUnaryMethod(transport, method, page, { signal }));
      }),
  });
  return data ?? NOTHING;
}
