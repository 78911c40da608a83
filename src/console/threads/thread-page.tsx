/** The replay of one thread: what was said in its traces, with their evaluations beside. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { memo, useCallback, useMemo, useState } from 'react';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { Select } from '../design/form.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back, More, Page, Pending } from '../design/page.tsx';
import { FormContext, MODES, useChoices } from '../trace/conversation-mode.ts';
import { TurnView } from '../trace/conversation-turn.tsx';
import type { Turn } from '../trace/conversation-turns.ts';
import detail from '../trace/detail.module.css';
import { Evaluations } from '../trace/evaluations.tsx';
import { ErrorView } from '../trace/section.tsx';
import { createReplay, type Replayed } from './replay.ts';
import styles from './threads.module.css';

const route = getRouteApi('/$slug/threads/$threadId');
const PAGE_SIZE = 50;
/** Of one trace, at first. */
const TURNS_SHOWN = 40;

export default function ThreadPage() {
  const { slug, threadId } = route.useParams();
  const search = route.useSearch();
  const found = useInfiniteQuery(
    TraceService.method.getThread,
    { threadId, pageSize: PAGE_SIZE, pageToken: '' },
    { pageParamKey: 'pageToken', getNextPageParam: ({ pagination }) => pagination?.nextPageToken },
  );
  const replay = useMemo(() => createReplay(), []);
  const replayed = useMemo(() => replay(found.data?.pages.flatMap((each) => each.traces) ?? []), [replay, found.data]);
  const choices = useChoices();
  return (
    <Page
      back={<Back to="/$slug/threads" params={{ slug }} search={search} label="Threads" />}
      title={
        <>
          Thread <bdi>{nameControls(threadId)}</bdi>
        </>
      }
      sub={found.isSuccess && `${formatCount(found.data.pages[0]?.pagination?.totalHits)} traces, oldest first`}
      actions={
        replayed.length > 0 && (
          <Select aria-label="Show all messages as" value={choices.all} options={MODES} onChange={choices.chooseAll} />
        )
      }
    >
      <Pending found={found} />
      {found.isSuccess && replayed.length === 0 && <p role="status">No trace that is stored names this thread.</p>}
      <FormContext value={choices}>
        <ol className={styles.replay} aria-label="Replay">
          {replayed.map(({ trace, turns }) => (
            <TraceTurns key={trace.traceId} trace={trace} turns={turns} slug={slug} />
          ))}
        </ol>
      </FormContext>
      <More found={found} />
    </Page>
  );
}

type TraceTurnsProps = Replayed & { readonly slug: string };

const TraceTurns = memo(function TraceTurns({ trace, turns, slug }: TraceTurnsProps) {
  const { traceId } = trace;
  const navigate = useNavigate();
  const open = useCallback(
    (span: string) => void navigate({ to: '/$slug/traces/$traceId', params: { slug, traceId }, search: { span } }),
    [navigate, slug, traceId],
  );
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? turns : spokenOf(turns).slice(0, TURNS_SHOWN);
  const isCut = BigInt(trace.spans.length) < trace.spanCount;
  return (
    <li className={styles.turn}>
      <header className={page.row}>
        <Link to="/$slug/traces/$traceId" params={{ slug, traceId }}>
          {nameControls(trace.name) || traceId}
        </Link>
        {trace.error && <Badge tone="bad">Failed</Badge>}
        <span className={detail.role}>
          <Instant at={trace.timestamps?.startedAt} as="short" /> · {formatDuration(trace.metrics?.totalTimeMs)} ·{' '}
          {formatCost(trace.metrics?.totalCost)}
        </span>
      </header>
      <div className={styles.said}>
        {shown.map((turn) => (
          <TurnView key={turn.key} turn={turn} onOpen={open} />
        ))}
        {turns.length === 0 && !trace.error && <p className={page.soft}>Nothing was said in this trace.</p>}
        {shown.length < turns.length && (
          <Button onClick={() => setWhole(true)}>Show all {formatCount(turns.length)} messages and calls</Button>
        )}
        {isCut && (
          <p className={page.soft}>
            These are the messages of the first {formatCount(trace.spans.length)} of {formatCount(trace.spanCount)}{' '}
            spans.
          </p>
        )}
        {trace.error && <ErrorView error={trace.error} />}
      </div>
      <aside className={styles.results} aria-label={`Evaluations of ${nameControls(trace.name) || traceId}`}>
        {trace.evaluations.length === 0 && <p className={page.soft}>No evaluations</p>}
        <Evaluations evaluations={trace.evaluations} />
      </aside>
    </li>
  );
});

/** What people and the application said to each other; of a trace where nobody did, everything. */
function spokenOf(turns: readonly Turn[]): readonly Turn[] {
  const spoken = turns.filter((turn) => turn.kind === 'message' && (turn.role === 'user' || turn.role === 'assistant'));
  return spoken.length > 0 ? spoken : turns;
}
