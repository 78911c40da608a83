/** The page of a trace of a project. */

import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { PendingPage } from '../design/page.tsx';
import type { ChangeOf } from '../layout/search.ts';
import type { TraceSearch } from './search.ts';
import { BackToTraces, TraceTools } from './trace-head.tsx';
import { TraceView } from './trace-view.tsx';
import { useTrace } from './use-trace.ts';

const route = getRouteApi('/$slug/traces/$traceId');

export default function TracePage() {
  const { traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { found, trace, spans } = useTrace(traceId);
  const change = useCallback(
    (part: ChangeOf<TraceSearch>) =>
      void navigate({ search: (now: TraceSearch) => ({ ...now, ...part }) as TraceSearch, replace: true }),
    [navigate],
  );
  const back = <BackToTraces search={search} />;
  if (!trace) return <PendingPage back={back} found={found} />;
  return (
    <TraceView
      found={found}
      trace={trace}
      spans={spans}
      search={search}
      onSearch={change}
      before={back}
      after={<TraceTools trace={trace} search={search} />}
    />
  );
}
