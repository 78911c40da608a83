/** The root component: query client, session and router. */

import { Code, ConnectError } from '@connectrpc/connect';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { router } from './routes.tsx';
import { SessionGate } from './session/session.tsx';

const FRESH_MS = 5_000;
const RETRIES_MAX = 2;
/** Errors that a retry may cure. */
const TRANSIENT_CODES: ReadonlySet<Code> = new Set([Code.Unavailable, Code.Unknown]);

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES_MAX && TRANSIENT_CODES.has(ConnectError.from(error).code),
    },
    // Calls send and return secrets, which must not outlive their page.
    mutations: { gcTime: 0 },
  },
});

type ConsoleProps = {
  /** The key of the link that was opened. */
  readonly offeredKey: string | null;
};

export function Console({ offeredKey }: ConsoleProps) {
  return (
    <QueryClientProvider client={client}>
      <SessionGate offeredKey={offeredKey}>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  );
}
