/** The line above a trace: the way back, its name, its figures, and its place in the search that one came from. */

import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, Button } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import { Back, Heading } from '../design/page.tsx';
import { useKeys } from '../layout/keys.tsx';
import { useProject } from '../session/session.tsx';
import { ThreadLink, UserLink } from '../traces/metadata-links.tsx';
import { keepPlace, placeKey } from '../traces/place.ts';
import { readTraceListSearch } from '../traces/search.ts';
import { metadataOf } from '../traces/trace-facts.ts';
import type { TraceSearch } from './search.ts';
import { TraceActions } from './trace-actions.tsx';
import styles from './trace-head.module.css';
import { type Neighbours, useNeighbours } from './use-neighbours.ts';

/** The way back to the list, as one left it. */
export function BackToTraces({ search }: { readonly search: TraceSearch }) {
  const { slug } = useProject();
  return (
    <Back
      to="/$slug/traces"
      params={{ slug }}
      search={readTraceListSearch(search)}
      state={{ isReturn: true }}
      label="Traces"
    />
  );
}

type TraceHeadProps = {
  readonly trace: Trace;
  /** Where it stands, before its name. */
  readonly before: ReactNode;
  /** What one can do with it, after its figures. */
  readonly after: ReactNode;
  /** Chooses the span with the most time of its own; null if there is nothing to choose from. */
  readonly onSlowest: (() => void) | null;
  /** Chooses the span with the highest cost; null if no span has one. */
  readonly onCostliest: (() => void) | null;
};

export function TraceHead({ trace, before, after, onSlowest, onCostliest }: TraceHeadProps) {
  const { metrics } = trace;
  const { user, thread } = metadataOf(trace);
  const name = nameControls(trace.name) || trace.traceId;
  return (
    <header className={styles.head}>
      {before}
      <div className={styles.title} title={name}>
        <Heading>{name}</Heading>
      </div>
      {trace.error && <Badge tone="bad">Failed</Badge>}
      <dl className={styles.figures}>
        <Figure label="Duration">
          {formatDuration(metrics?.totalTimeMs)}
          {onSlowest && (
            <Button small title="The span with the most time of its own" onClick={onSlowest}>
              Slowest span
            </Button>
          )}
        </Figure>
        <Figure label="Cost">
          {formatCost(metrics?.totalCost)}
          {metrics && metrics.unpricedSpans > 0n && (
            <Badge tone="warn">{formatCount(metrics.unpricedSpans)} without a price</Badge>
          )}
          {onCostliest && (
            <Button small onClick={onCostliest}>
              Costliest span
            </Button>
          )}
        </Figure>
        <Figure label="Tokens">
          {formatCount(metrics?.promptTokens)} in, {formatCount(metrics?.completionTokens)} out
        </Figure>
        {user !== undefined && (
          <Figure label="User">
            <UserLink user={user}>
              <Value text={user} />
            </UserLink>
          </Figure>
        )}
        {thread !== undefined && (
          <Figure label="Thread">
            <ThreadLink thread={thread}>
              <Value text={thread} />
            </ThreadLink>
          </Figure>
        )}
        <Figure label="Started">
          <Instant at={trace.timestamps?.startedAt} as="short" />
        </Figure>
        <Figure label="Spans">{formatCount(trace.spanCount)}</Figure>
      </dl>
      {after}
    </header>
  );
}

function Figure({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className={styles.figure}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Value({ text }: { readonly text: string }) {
  return (
    <bdi className={styles.value} title={nameControls(text)}>
      {nameControls(text)}
    </bdi>
  );
}

type TracePlaceProps = { readonly trace: Trace; readonly search: TraceSearch };

/** What one with an account can do: go to the neighbours of the trace in the search, and act on it. */
export function TraceTools(props: TracePlaceProps) {
  return (
    <>
      <Position {...props} />
      <div className={styles.actions}>
        <TraceActions trace={props.trace} />
      </div>
    </>
  );
}

/** Where the trace stands in the search, with the ways to its neighbours. */
function Position({ trace: { traceId }, search }: TracePlaceProps) {
  const neighbours = useNeighbours(traceId, search);
  const go = useGo(search, neighbours);
  useKeys('Trace', [
    { keys: ['['], label: 'Previous trace of the search', act: () => go('previous') },
    { keys: [']'], label: 'Next trace of the search', act: () => go('next') },
  ]);
  if (neighbours === null) return null;
  const { place, total, isLowerBound, previous, next } = neighbours;
  return (
    <nav className={styles.position} aria-label="Traces of the search">
      <Button
        small
        aria-label="Previous trace"
        title="Previous trace of the search ( [ )"
        disabled={previous === null}
        onClick={() => go('previous')}
      >
        ‹
      </Button>
      <span role="status">
        {formatCount(place)} of {formatCount(total)}
        {isLowerBound && ' or more'}
      </span>
      <Button
        small
        aria-label="Next trace"
        title="Next trace of the search ( ] )"
        disabled={next === null}
        onClick={() => go('next')}
      >
        ›
      </Button>
    </nav>
  );
}

/** Replaces the entry of the history, so that "back" leads to the list, which then shows the trace that was read last. */
function useGo(search: TraceSearch, neighbours: Neighbours | null) {
  const { slug } = useProject();
  const navigate = useNavigate();
  return (to: 'previous' | 'next') => {
    const traceId = neighbours?.[to] ?? null;
    if (neighbours === null || traceId === null) return;
    const list = readTraceListSearch(search);
    keepPlace(placeKey(slug, list), { traceId });
    const at = neighbours.place + (to === 'next' ? 1 : -1);
    const { view, find, types } = search;
    void navigate({
      to: '/$slug/traces/$traceId',
      params: { slug, traceId },
      search: { ...list, ...(view && { view }), ...(find && { find }), ...(types && { types }), at },
      replace: true,
    });
  };
}
