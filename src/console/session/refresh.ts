import { useQueryClient } from '@tanstack/react-query';

/** Refetches all queries after a change. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'connect-query' });
}
