/** The console: what all pages share, and the address that chooses among them. */

import { Code, ConnectError } from '@connectrpc/connect';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { router } from './routes.tsx';
import { SessionGate } from './session/session.tsx';

const FRESH_MS = 5_000;
const RETRIES_MAX = 2;
/** What may go better a moment later. */
const PASSING: ReadonlySet<Code> = new Set([Code.Unavailable, Code.Unknown]);

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES_MAX && PASSING.has(ConnectError.from(error).code),
    },
  },
});

export function Console() {
  return (
    <QueryClientProvider client={client}>
      <SessionGate>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  );
}
