import { useQueryClient } from '@tanstack/react-query';

/** Asks again for all that is shown: after a change, whatever could tell of it. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'connect-query' });
}
