/** What is known of the chosen span, or of the whole trace when none is chosen. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { lazy, Suspense } from 'react';
import { SpanType, type Trace, TraceService, type TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { CompareWith } from '../compare/compare-with.tsx';
import { Button, Loading } from '../design/button.tsx';
import { ModalButton } from '../design/confirm.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { formatCount, formatDuration, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { loadsPart } from '../session/connection.ts';
import { useLinkedProject, useMay } from '../session/session.tsx';
import { useFailureFirst, type ZoneProps } from './conversation-zone.tsx';
import { Evaluations } from './evaluations.tsx';
import { deepestFailure } from './failures.ts';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import { ErrorView, Section, SimilarFailures } from './section.tsx';
import { SpanDetail } from './span-detail.tsx';

export function FactsZone(props: ZoneProps) {
  const { trace, spans, chosen, onChoose } = props;
  const project = useLinkedProject();
  useFailureFirst(props);
  return (
    <>
      {chosen ? (
        <>
          <SpanDetail key={chosen.spanId} span={chosen} evaluations={trace.evaluations} />
          <ToDataset trace={trace} span={chosen} spans={spans} />
        </>
      ) : (
        <TraceDetail trace={trace} spans={spans} onChoose={onChoose} />
      )}
      {project !== null && <CompareWith trace={trace} />}
    </>
  );
}

/** Loaded on first use. */
const AddSpan = lazy(loadsPart(() => import('../datasets/add-span.tsx')));

type ToDatasetProps = Pick<ZoneProps, 'trace' | 'spans'> & { readonly span: TraceSpan };

function ToDataset(props: ToDatasetProps) {
  const may = useMay();
  const project = useLinkedProject();
  if (project === null || !may('datasets:view') || !may('datasets:update')) return null;
  return (
    <Section title="Dataset">
      <ModalButton label="Add to dataset…" title="Add a span to a dataset" small>
        {(close) => (
          <Suspense fallback={<Loading />}>
            <AddSpan {...props} onClose={close} />
          </Suspense>
        )}
      </ModalButton>
    </Section>
  );
}

type TraceDetailProps = {
  readonly trace: Trace;
  readonly spans: readonly TraceSpan[];
  readonly onChoose: (span: TraceSpan) => void;
};

/** The details of the trace as a whole, without its input and output. */
export function TraceDetail({ trace, spans, onChoose }: TraceDetailProps) {
  const failed = trace.error ? deepestFailure(trace, spans) : null;
  return (
    <>
      {trace.error && (
        <ErrorView error={trace.error}>
          {failed && (
            <Button small onClick={() => onChoose(failed)}>
              In {nameControls(failed.name)}
            </Button>
          )}
          <SimilarFailures error={trace.error} />
        </ErrorView>
      )}
      <Section title="Time and tokens">
        <Facts facts={factsOf(trace, spans)} />
        <Slowness trace={trace} />
      </Section>
      {trace.expectedOutput !== undefined && (
        <Section title="Expected output">
          <LongText text={trace.expectedOutput} />
        </Section>
      )}
      {trace.evaluations.length > 0 && (
        <Section title="Evaluations">
          <Evaluations evaluations={trace.evaluations} />
        </Section>
      )}
      <Section title="Metadata">
        <JsonView json={trace.metadataJson || '{}'} label="metadata" />
      </Section>
    </>
  );
}

function factsOf({ metrics, timestamps }: Trace, spans: readonly TraceSpan[]): readonly Fact[] {
  const startedAt = timestamps?.startedAt;
  const answeredMs = firstTokenOfAnswer(spans);
  const waitMs = startedAt && answeredMs !== null ? Math.max(0, answeredMs - timestampMs(startedAt)) : null;
  return [
    ['First token of any call', formatDuration(metrics?.firstTokenMs)],
    ['First token of the answer', waitMs !== null && formatDuration(waitMs)],
    ['Read from cache', metrics?.cacheReadInputTokens !== undefined && formatCount(metrics.cacheReadInputTokens)],
    ['Reasoning tokens', metrics?.reasoningTokens !== undefined && formatCount(metrics.reasoningTokens)],
  ];
}

/** When the call that ended last gave its first token: what an agent plans before, nobody reads. */
function firstTokenOfAnswer(spans: readonly TraceSpan[]): number | null {
  let latest: { readonly endMs: number; readonly firstMs: number } | null = null;
  for (const { type, timestamps } of spans) {
    if (type !== SpanType.LLM || !timestamps?.finishedAt || !timestamps.firstTokenAt) continue;
    const endMs = timestampMs(timestamps.finishedAt);
    if (latest === null || endMs > latest.endMs) latest = { endMs, firstMs: timestampMs(timestamps.firstTokenAt) };
  }
  return latest?.firstMs ?? null;
}

const COMPARED_TRACES = 100;
/** Fewer say little. */
const COMPARED_MIN = 10;
const STALE_MS = 300_000;

/** Compares the duration with the latest traces of the same name, in one request for all traces of that name. */
function Slowness({ trace }: { readonly trace: Trace }) {
  const input = { filters: [{ name: 'traces.name', values: [trace.name] }], pageSize: COMPARED_TRACES };
  const project = useLinkedProject();
  const options = { enabled: project !== null && trace.name !== '', staleTime: STALE_MS };
  const { data } = useQuery(TraceService.method.searchTraces, input, options);
  const found = data?.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])) ?? [];
  const others = found.filter(({ traceId }) => traceId !== trace.traceId);
  const ownMs = trace.metrics?.totalTimeMs;
  if (ownMs === undefined || others.length < COMPARED_MIN) return null;
  const faster = others.filter(({ metrics }) => (metrics?.totalTimeMs ?? 0n) < ownMs).length;
  return (
    <p className={page.soft}>
      Slower than {Math.round((100 * faster) / others.length)} % of the last {formatCount(others.length)} traces of this
      name.
    </p>
  );
}
