/**
 * Adds events, which log records bring, to a stored span: to one of OpenTelemetry as if it had been sent again with them;
 * of one that came by the collector they fill what its sender left out.
 */

import { isArray } from '../../json/free-json.ts';
import type { Steps } from '../steps.ts';
import { type Arrival, collectBatch } from './collector/collector.ts';
import { isUnreadable, type TraceDraft } from './collector/collector-draft.ts';
import { isEvaluationEvent, toBatchDraft } from './otlp/batch.ts';
import type { OtlpEvent, OtlpSpan } from './otlp/span.ts';
import { eventOf } from './otlp/span-draft.ts';
import type { Span, SpanVersion, TraceAppend } from './trace.ts';

export type ReplacedSpan = {
  readonly span: OtlpSpan;
  /** Those of its events that the stored span does not have. */
  readonly added: ReadonlySet<OtlpEvent>;
  readonly isOfOpenTelemetry: boolean;
  readonly stored: Span;
  readonly madeOf: SpanVersion;
};

type CollectDeps = Parameters<typeof collectBatch>[2];

/** Bounds the length of any text in the span. */
const BYTES_PER_UNIT_MAX = 3;
/** The values are walked: how deep they nest was not noted. */
const UNKNOWN_DEPTH = 1_000;
/** What stands at the end of a text that was cut. */
const CUT = /…\[truncated: \d+ bytes\]"/;

export function draftOf({ span, stored }: ReplacedSpan) {
  const units =
    (stored.telemetryJson?.length ?? 0) + JSON.stringify(span.events.map(({ attributes }) => [...attributes])).length;
  return toBatchDraft({ spans: [span], bytes: units * BYTES_PER_UNIT_MAX, depth: UNKNOWN_DEPTH });
}

/** undefined: the span cannot be stored so. */
export function* appendOf(
  batch: Parameters<typeof collectBatch>[0],
  replaced: ReplacedSpan,
  { at, deps }: { readonly at: Arrival; readonly deps: CollectDeps },
): Steps<TraceAppend | undefined> {
  const { stored, madeOf } = replaced;
  // The trace has all else of the span already, and it may have been changed since.
  const traces = batch.traces.map((trace) => ({
    ...trace,
    evaluations: evaluationsAdded(trace.evaluations, replaced),
    metadata: [],
    links: [],
    expectedOutput: undefined,
  }));
  const [validated] = yield* collectBatch({ ...batch, traces }, at, deps);
  const append = validated?.collected.append;
  const [span] = append?.spans ?? [];
  if (append === undefined || span === undefined) return undefined;
  if (replaced.isOfOpenTelemetry) return { ...append, spans: [keepTexts(stored, span)], madeOf };
  // The request of the span tells of what its sender gave, which stays as it is.
  return { ...append, spans: [fillTexts(replaced, span)], requests: [], madeOf };
}

/** The evaluations of the events that were added; there is one for each event that is an evaluation. */
function evaluationsAdded(
  sent: TraceDraft['evaluations'],
  { span: { events }, added }: ReplacedSpan,
): TraceDraft['evaluations'] {
  if (sent === undefined || isUnreadable(sent)) return sent;
  return events
    .filter(({ name }) => isEvaluationEvent(name))
    .flatMap((event, index) => (added.has(event) ? [sent.at(index)] : []));
}

/** An attribute that was cut gives less than it gave at first. */
function keepTexts(stored: Span, span: Span): Span {
  if (stored.telemetryJson === null || !CUT.test(stored.telemetryJson)) return span;
  const { inputJson, outputJson } = stored;
  return { ...span, inputJson: inputJson ?? span.inputJson, outputJson: outputJson ?? span.outputJson };
}

/** Where a span of the collector notes which of its texts its events gave: a later event may add to those alone. */
const GIVEN = 'spandrel.given_by_events';
const TEXTS = [
  ['input', 'inputJson'],
  ['output', 'outputJson'],
] as const;

function fillTexts({ stored, span: { attributes, events } }: ReplacedSpan, made: Span): Span {
  const before = attributes.get(GIVEN);
  const given = TEXTS.filter(([name, text]) => {
    const isFree = stored[text] === null || (isArray(before) && before.includes(name));
    return isFree && made[text] !== null;
  });
  const telemetry = { attributes: { [GIVEN]: given.map(([name]) => name) }, events: events.map(eventOf) };
  return {
    ...stored,
    ...Object.fromEntries(given.map(([, text]) => [text, made[text]])),
    telemetryJson: JSON.stringify(telemetry),
  };
}
