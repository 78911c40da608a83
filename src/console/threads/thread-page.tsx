/** The traces of one thread as a conversation. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, More, Page, Pending } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';
import detail from '../trace/detail.module.css';
import { LongText } from '../trace/long-text.tsx';
import { ErrorView } from '../trace/section.tsx';

const route = getRouteApi('/$slug/threads/$threadId');
const PAGE_SIZE = 50;

export default function ThreadPage() {
  const { slug, threadId } = route.useParams();
  const search = route.useSearch();
  const { may } = useSession();
  const found = useInfiniteQuery(
    TraceService.method.getThread,
    { threadId, pageSize: PAGE_SIZE, pageToken: '' },
    { pageParamKey: 'pageToken', getNextPageParam: ({ pagination }) => pagination?.nextPageToken },
  );
  const traces = found.data?.pages.flatMap((each) => each.traces) ?? [];
  return (
    <Page
      back={
        may('analytics:view') ? (
          <Back to="/$slug/threads" params={{ slug }} search={search} label="Threads" />
        ) : (
          <Back to="/$slug/traces" params={{ slug }} label="Traces" />
        )
      }
      title={
        <>
          Thread <bdi>{nameControls(threadId)}</bdi>
        </>
      }
      sub={found.isSuccess && `${formatCount(found.data.pages[0]?.pagination?.totalHits)} traces, oldest first`}
    >
      <Pending found={found} />
      <ol className={detail.conversation}>
        {traces.map((trace) => (
          <Turn key={trace.traceId} trace={trace} slug={slug} />
        ))}
      </ol>
      <More found={found} />
    </Page>
  );
}

function Turn({ trace, slug }: { readonly trace: Trace; readonly slug: string }) {
  return (
    <li className={detail.bubble}>
      <div className={page.row}>
        <Link to="/$slug/traces/$traceId" params={{ slug, traceId: trace.traceId }}>
          {nameControls(trace.name) || trace.traceId}
        </Link>
        {trace.error && <Badge tone="bad">Failed</Badge>}
        <span className={detail.role}>
          <Instant at={trace.timestamps?.startedAt} as="short" /> · {formatDuration(trace.metrics?.totalTimeMs)} ·{' '}
          {formatCost(trace.metrics?.totalCost)}
        </span>
      </div>
      <span className={detail.role}>Input</span>
      <LongText text={trace.input?.value ?? ''} />
      {trace.error && <ErrorView error={trace.error} />}
      {(trace.output || !trace.error) && (
        <>
          <span className={detail.role}>Output</span>
          <LongText text={trace.output?.value ?? ''} />
        </>
      )}
    </li>
  );
}
