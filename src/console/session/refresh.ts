import type { DescMessage, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import { useMutation } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';

/** Refetches all queries after a change. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'connect-query' });
}

/** A call that changes data. Once all queries are fetched again, `onDone` runs. */
export function useChange<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  onDone?: (answer: MessageShape<O>) => unknown,
) {
  const refresh = useRefresh();
  return useMutation(method, {
    async onSuccess(answer) {
      await refresh();
      await onDone?.(answer);
    },
  });
}
