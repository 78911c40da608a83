/** The root component: query client, session and router. */

import { Code, ConnectError } from '@connectrpc/connect';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { Button, Loading } from './design/button.tsx';
import status from './design/status.module.css';
import { Tips } from './design/tips.tsx';
import { router } from './routes.tsx';
import { loadsPart, recoverConnection, useConnection } from './session/connection.ts';
import { SessionGate } from './session/session.tsx';

const SharedTracePage = lazy(loadsPart(() => import('./trace/shared-trace-page.tsx')));

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

/** The secret of the link that was opened; null on all other pages. No project has the slug `shared`. */
const sharedToken = /^\/shared\/([^/]+)$/.exec(location.pathname)?.[1] ?? null;

export function Console({ offeredKey }: ConsoleProps) {
  return (
    <QueryClientProvider client={client}>
      <ConnectionBanner />
      <Tips />
      {sharedToken === null ? (
        <SessionGate offeredKey={offeredKey}>
          <RouterProvider router={router} />
        </SessionGate>
      ) : (
        <Suspense fallback={<Loading />}>
          <SharedTracePage token={sharedToken} />
        </Suspense>
      )}
    </QueryClientProvider>
  );
}

/** Says that the server is away, or that the page has to be loaded again. Once it answers again, all data is read again. */
function ConnectionBanner() {
  const connection = useConnection();
  useEffect(() => {
    const check = () => void recoverConnection();
    window.addEventListener('offline', check);
    return () => window.removeEventListener('offline', check);
  }, []);
  useEffect(() => {
    if (connection === 'lost') return () => void client.invalidateQueries();
    return undefined;
  }, [connection]);
  if (connection === 'open') return null;
  return (
    <div className={status.banner} role="status">
      {connection === 'lost' ? (
        'The server does not answer. This page recovers on its own as soon as it does.'
      ) : (
        <>
          The console was upgraded. Save or copy what you typed, then reload the page.
          <Button small onClick={() => location.reload()}>
            Reload
          </Button>
        </>
      )}
    </div>
  );
}
