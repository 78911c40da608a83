/** The details of one span, without what was said in it. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { SpanMetrics, TraceEvaluation, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, CopyButton } from '../design/button.tsx';
import { formatCost, formatCount, formatDuration, formatInstant, nameControls } from '../design/format.ts';
import { CostSplit } from './cost-split.tsx';
import styles from './detail.module.css';
import { Evaluations } from './evaluations.tsx';
import { JsonView } from './json-view.tsx';
import { ErrorView, Section, SimilarFailures } from './section.tsx';
import { promptOf } from './telemetry.ts';
import { costSourceName, spanTypeName } from './trace-enums.ts';

type SpanDetailProps = { readonly span: TraceSpan; readonly evaluations: readonly TraceEvaluation[] };

export function SpanDetail({ span, evaluations }: SpanDetailProps) {
  const ofSpan = evaluations.filter(({ spanId }) => spanId === span.spanId);
  return (
    <>
      <div className={styles.head}>
        <h2>{nameControls(span.name)}</h2>
        <Badge tone="accent">{spanTypeName(span.type)}</Badge>
        <CopyButton text={span.spanId}>Copy span id</CopyButton>
      </div>
      <dl className={styles.facts}>
        {factsOf(span).map(([label, value, note]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {value}
              {note && <span className={styles.note}>{note}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {span.error && (
        <ErrorView error={span.error} isOpen>
          <SimilarFailures error={span.error} />
        </ErrorView>
      )}
      <CostSplit span={span} />
      {ofSpan.length > 0 && (
        <Section title="Evaluations">
          <Evaluations evaluations={ofSpan} />
        </Section>
      )}
      <JsonSection title="Parameters" label="parameters" json={span.paramsJson} />
      <JsonSection title="Other metrics" label="other metrics" json={span.metrics?.otherJson} />
      <JsonSection title="OpenTelemetry" label="OpenTelemetry" json={span.telemetryJson} />
    </>
  );
}

type JsonSectionProps = { readonly title: string; readonly label: string; readonly json: string | undefined };

function JsonSection({ title, label, json }: JsonSectionProps) {
  if (json === undefined) return null;
  return (
    <Section title={title}>
      <JsonView json={json} label={label} />
    </Section>
  );
}

type Fact = readonly [label: string, value: string, note?: string | null | undefined];

function factsOf(span: TraceSpan): readonly Fact[] {
  const { startedAt, finishedAt, firstTokenAt } = span.timestamps ?? {};
  const since = (at: typeof startedAt) =>
    startedAt && at ? formatDuration(timestampMs(at) - timestampMs(startedAt)) : null;
  const prompt = promptOf(span);
  const facts: (Fact | null)[] = [
    span.model === undefined ? null : ['Model', nameControls(span.model), span.vendor && nameControls(span.vendor)],
    prompt === null ? null : ['Prompt', nameControls(prompt)],
    ['Started', formatInstant(startedAt)],
    ['Duration', since(finishedAt) ?? '–'],
    firstTokenAt ? ['Time to first token', since(firstTokenAt) ?? '–'] : null,
    ...(span.metrics ? factsOfMetrics(span.metrics) : []),
    ['Span id', nameControls(span.spanId)],
  ];
  return facts.filter((fact) => fact !== null);
}

function factsOfMetrics(metrics: SpanMetrics): readonly (Fact | null)[] {
  const estimated = metrics.tokensEstimated ? 'estimated by the sender' : null;
  const count = (label: string, value: bigint | undefined): Fact | null =>
    value === undefined ? null : [label, formatCount(value), estimated];
  return [
    count('Input tokens', metrics.promptTokens),
    count('Output tokens', metrics.completionTokens),
    count('Reasoning tokens', metrics.reasoningTokens),
    count('Read from cache', metrics.cacheReadInputTokens),
    count('Written to cache', metrics.cacheCreationInputTokens),
    metrics.costSource ? ['Cost', formatCost(metrics.cost), costSourceName(metrics.costSource)] : null,
  ];
}
