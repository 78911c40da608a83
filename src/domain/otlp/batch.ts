/** Exported spans -> drafts of the traces they belong to. */

import type {
  BatchDraft,
  EvaluationDraft,
  ItemReason,
  MetadataDraft,
  Sent,
  SpanDraft,
  TraceDraft,
} from '../collector-draft.ts';
import { isUnreadable, unreadable } from '../collector-draft.ts';
import { toEvaluationDraft } from '../collector-json.ts';
import { isAbsent, isObject } from '../free-json.ts';
import type { LosslessJson } from '../lossless-json.ts';
import type { Steps } from '../steps.ts';
import { type AttributeJson, createAttributeJson } from './attribute-json.ts';
import { resourceMetadata, spanMetadata } from './metadata.ts';
import { checkRepeats } from './repeats.ts';
import type { Attributes, OtlpExport, OtlpSpan } from './span.ts';
import { toSpanDraft } from './span-draft.ts';

const EVALUATION_EVENT = 'langwatch.evaluation.custom';
const EXPECTED_OUTPUT = 'langwatch.expected_output';
/** What stands around the value of an attribute where a span tells its events. */
const DEPTH_AROUND = 4;

/** Throws payload_too_large. */
export function* toBatchDraft(request: OtlpExport): Steps<BatchDraft> {
  checkRepeats(request.spans);
  const json = createAttributeJson({ bytes: request.bytes, depth: request.depth + DEPTH_AROUND });
  const traces = new Map<string, Group>();
  const refused: ItemReason[] = [];
  let evaluations = 0;
  for (const [place, span] of request.spans.entries()) {
    if (place > 0) yield;
    if (span === undefined || isUnreadable(span)) {
      refused.push({ place, reason: `: ${span?.reason ?? 'is required'}` });
      continue;
    }
    const { traceId } = span;
    const wrong = [traceId, span.spanId, span.parentId].find(isUnreadable);
    if (wrong !== undefined || typeof traceId !== 'string') {
      refused.push({ place, reason: `.${wrong?.path}: ${wrong?.reason}` });
      continue;
    }
    const group = traces.get(traceId) ?? createGroup();
    traces.set(traceId, group);
    evaluations = addSpan(group, span, { place, evaluations, json });
  }
  return { traces: [...traces].map(([traceId, group]) => toDraft(traceId, group, json)), refused };
}

/** What is known of a trace so far. */
type Group = {
  readonly spans: OtlpSpan[];
  readonly places: number[];
  readonly evaluations: Sent<EvaluationDraft>[];
  readonly evaluationPlaces: number[];
  readonly metadata: Sent<MetadataDraft>[];
  readonly resources: Set<Attributes>;
  expectedOutput: LosslessJson | undefined;
};

function createGroup(): Group {
  return {
    spans: [],
    places: [],
    evaluations: [],
    evaluationPlaces: [],
    metadata: [],
    resources: new Set(),
    expectedOutput: undefined,
  };
}

/** Where in the request the span is, and how many evaluations came before. */
type Place = { readonly place: number; readonly evaluations: number; readonly json: AttributeJson };

/** Answers how many evaluations there are with those of the span. */
function addSpan(group: Group, span: OtlpSpan, { place, evaluations, json }: Place): number {
  const { attributes, resource } = span;
  group.spans.push(span);
  group.places.push(place);
  // What a resource says holds for all its spans, and each of them may know better.
  if (!group.resources.has(resource)) {
    group.resources.add(resource);
    group.metadata.push(...resourceMetadata(resource, json));
  }
  group.metadata.push(...spanMetadata(attributes, json));
  const own = attributes.get(EXPECTED_OUTPUT);
  if (isAbsent(own)) group.expectedOutput ??= resource.get(EXPECTED_OUTPUT);
  else group.expectedOutput = own;
  let count = evaluations;
  for (const event of span.events) {
    if (event.name !== EVALUATION_EVENT) continue;
    group.evaluations.push(toEvaluation(json.parsed(event.attributes.get('json_encoded_event')), span));
    group.evaluationPlaces.push(count);
    count += 1;
  }
  return count;
}

function toEvaluation(item: LosslessJson | undefined, { spanId }: OtlpSpan): Sent<EvaluationDraft> {
  if (!isObject(item)) return unreadable('', 'must be an object');
  const isPlaced = !isAbsent(item.span_id) || typeof spanId !== 'string';
  return toEvaluationDraft(isPlaced ? item : { ...item, span_id: spanId });
}

function toDraft(traceId: string, group: Group, json: AttributeJson): TraceDraft & { readonly traceId: string } {
  const { spans, evaluations, metadata, expectedOutput } = group;
  return {
    traceId,
    // Made one by one: all drafts of a request together take more room than the spans.
    spans: { length: spans.length, at: (index) => draftAt(spans[index], json) },
    evaluations,
    metadata,
    expectedOutput,
    facts: json.facts,
    places: { spans: group.places, evaluations: group.evaluationPlaces },
  };
}

function draftAt(span: OtlpSpan | undefined, json: AttributeJson): Sent<SpanDraft> {
  return span === undefined ? undefined : toSpanDraft(span, json);
}
