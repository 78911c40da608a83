/** The page of a link to a trace. Its readers have no account: it calls nothing but the trace, and leads nowhere else. */

import { TransportProvider } from '@connectrpc/connect-query';
import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { Badge } from '../design/button.tsx';
import { readFailure } from '../design/failure.tsx';
import page from '../design/page.module.css';
import { Heading, PendingPage } from '../design/page.tsx';
import { KeyHelp } from '../layout/keys.tsx';
import type { ChangeOf } from '../layout/search.ts';
import shell from '../layout/shell.module.css';
import { createOpenTransport } from '../session/transport.ts';
import { readTraceSearch, type TraceSearch } from './search.ts';
import { TraceView } from './trace-view.tsx';
import { useSharedTrace } from './use-trace.ts';

export default function SharedTracePage({ token }: { readonly token: string }) {
  const [transport] = useState(createOpenTransport);
  return (
    <TransportProvider transport={transport}>
      <main className={shell.content}>
        <SharedTrace token={token} />
      </main>
      <KeyHelp />
    </TransportProvider>
  );
}

function SharedTrace({ token }: { readonly token: string }) {
  const { found, trace, spans } = useSharedTrace(token);
  const [search, change] = useSearchOfAddress();
  // Also where the link ended while the page was open.
  if (found.isError && readFailure(found.error).code === 'trace_share_not_found') return <NoSharedTrace />;
  if (!trace) return <PendingPage found={found} />;
  return (
    <TraceView
      found={found}
      trace={trace}
      spans={spans}
      search={search}
      onSearch={change}
      before={<Badge>Shared, read only</Badge>}
      after={null}
    />
  );
}

function NoSharedTrace() {
  return (
    <div className={page.empty}>
      <Heading>This link leads nowhere</Heading>
      <p>
        It has expired or was revoked, its trace was deleted, or a part of its address is missing. Ask whoever sent it
        for a new one.
      </p>
    </div>
  );
}

/** The search parameters as on the page of a trace, without the router: all its routes need an account. */
function useSearchOfAddress(): readonly [TraceSearch, (part: ChangeOf<TraceSearch>) => void] {
  const [search, setSearch] = useState(() => readTraceSearch(defaultParseSearch(location.search)));
  const change = useCallback((part: ChangeOf<TraceSearch>) => {
    const changed = { ...readTraceSearch(defaultParseSearch(location.search)), ...part } as TraceSearch;
    history.replaceState(history.state, '', `${location.pathname}${defaultStringifySearch(changed)}`);
    setSearch(changed);
  }, []);
  return [search, change];
}
