/** Turns exported spans into drafts of their traces. */

import { isAbsent, isObject } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { Fault } from '../../fault.ts';
import type { Steps } from '../../steps.ts';
import {
  type BatchDraft,
  type EvaluationDraft,
  type ItemReason,
  isUnreadable,
  type MetadataDraft,
  type Sent,
  type SpanDraft,
  type TraceDraft,
  unreadable,
} from '../collector/collector-draft.ts';
import { toEvaluationDraft, toFigure } from '../collector/collector-json.ts';
import type { PromptLinks } from '../prompt-links.ts';
import { type AttributeJson, createAttributeJson } from './attribute-json.ts';
import { resourceMetadata, spanMetadata } from './metadata.ts';
import type { Attributes, OtlpEvent, OtlpExport, OtlpScope, OtlpSpan } from './span.ts';
import { toSpanDraft } from './span-draft.ts';

const EVALUATION_EVENT = 'langwatch.evaluation.custom';
const GEN_AI_EVALUATION_EVENT = 'gen_ai.evaluation.result';
/** Members of an evaluation with their attributes. */
const GEN_AI_EVALUATION: readonly (readonly [member: string, key: string])[] = [
  ['name', 'gen_ai.evaluation.name'],
  ['score', 'gen_ai.evaluation.score.value'],
  ['label', 'gen_ai.evaluation.score.label'],
  ['details', 'gen_ai.evaluation.explanation'],
  ['error', 'error.type'],
];
const EXPECTED_OUTPUT = 'langwatch.expected_output';
/** Levels around the value of an attribute in the events of a span. */
const DEPTH_AROUND = 4;

/** Throws payload_too_large. */
export function* toBatchDraft(request: OtlpExport): Steps<BatchDraft> {
  checkRepeats(request.spans);
  const json = createAttributeJson({ bytes: request.bytes, depth: request.depth + DEPTH_AROUND });
  const traces = new Map<string, Group>();
  const refused: ItemReason[] = [];
  let evaluations = 0;
  for (const [position, span] of request.spans.entries()) {
    if (position > 0) yield;
    const index = request.madeOf?.indexes[position] ?? position;
    if (span === undefined || isUnreadable(span)) {
      const { path = '', reason = 'is required' } = span ?? {};
      refused.push({ index, reason: `${path === '' ? '' : `.${path}`}: ${reason}` });
      continue;
    }
    yield* json.prepare(span);
    const { traceId } = span;
    const wrong = [traceId, span.spanId, span.parentId].find(isUnreadable);
    if (wrong !== undefined || typeof traceId !== 'string') {
      refused.push({ index, reason: `.${wrong?.path}: ${wrong?.reason}` });
      continue;
    }
    const group = traces.get(traceId) ?? createGroup();
    traces.set(traceId, group);
    evaluations = addSpan(group, span, { index, evaluations, json });
  }
  const drafts = [...traces].map(([traceId, group]) => toDraft(traceId, group, json));
  return { traces: drafts, refused, itemsName: request.madeOf?.itemsName };
}

/** Parts of a trace read so far. */
type Group = {
  readonly spans: OtlpSpan[];
  readonly indexes: number[];
  readonly evaluations: Sent<EvaluationDraft>[];
  readonly evaluationIndexes: number[];
  readonly metadata: Sent<MetadataDraft>[];
  readonly links: PromptLinks;
  readonly resources: Set<Attributes>;
  expectedOutput: LosslessJson | undefined;
};

function createGroup(): Group {
  return {
    spans: [],
    indexes: [],
    evaluations: [],
    evaluationIndexes: [],
    metadata: [],
    links: new Map(),
    resources: new Set(),
    expectedOutput: undefined,
  };
}

/** Index of the span in the request, and the count of earlier evaluations. */
type SpanContext = { readonly index: number; readonly evaluations: number; readonly json: AttributeJson };

/** Returns the count of evaluations, including those of the span. */
function addSpan(group: Group, span: OtlpSpan, { index, evaluations, json }: SpanContext): number {
  const { attributes, resource } = span;
  const into = { json, links: group.links };
  group.spans.push(span);
  group.indexes.push(index);
  // A resource applies to all its spans, but each of them may override it.
  if (!group.resources.has(resource)) {
    group.resources.add(resource);
    group.metadata.push(...resourceMetadata(resource, into));
  }
  group.metadata.push(...spanMetadata(attributes, into));
  const expectedOutput = attributes.get(EXPECTED_OUTPUT);
  if (isAbsent(expectedOutput)) group.expectedOutput ??= resource.get(EXPECTED_OUTPUT);
  else group.expectedOutput = expectedOutput;
  let count = evaluations;
  for (const event of span.events) {
    const evaluation = evaluationIn(event, json);
    if (evaluation === undefined) continue;
    group.evaluations.push(toEvaluation(evaluation, span));
    group.evaluationIndexes.push(count);
    count += 1;
  }
  return count;
}

export function isEvaluationEvent(name: string): boolean {
  return name === EVALUATION_EVENT || name === GEN_AI_EVALUATION_EVENT;
}

/** undefined: the event is not an evaluation. */
function evaluationIn({ name, attributes }: OtlpEvent, json: AttributeJson): LosslessJson | undefined {
  if (name === EVALUATION_EVENT) return json.parsed(attributes.get('json_encoded_event')) ?? null;
  if (name !== GEN_AI_EVALUATION_EVENT) return undefined;
  const members = GEN_AI_EVALUATION.map(([member, key]) => [member, attributes.get(key) ?? null] as const);
  const { score = null, ...item } = Object.fromEntries(members);
  const figure = toFigure(score, 'score');
  // What is not a number refuses the evaluation, under its own value.
  return { ...item, score: isUnreadable(figure) ? score : (figure ?? null) };
}

function toEvaluation(item: LosslessJson, { spanId }: OtlpSpan): Sent<EvaluationDraft> {
  if (!isObject(item)) return unreadable('', 'must be an object');
  const inheritsSpanId = isAbsent(item.span_id) && typeof spanId === 'string';
  return toEvaluationDraft(inheritsSpanId ? { ...item, span_id: spanId } : item);
}

function toDraft(traceId: string, group: Group, json: AttributeJson): TraceDraft & { readonly traceId: string } {
  const { spans, evaluations, metadata, links, expectedOutput } = group;
  return {
    traceId,
    // Makes drafts one by one: all together take more memory than the spans.
    spans: { length: spans.length, at: (index) => draftAt(spans[index], json) },
    evaluations,
    metadata,
    links: [...links.values()],
    expectedOutput,
    facts: json.facts,
    indexes: { spans: group.indexes, evaluations: group.evaluationIndexes },
  };
}

function draftAt(span: OtlpSpan | undefined, json: AttributeJson): Sent<SpanDraft> {
  return span === undefined ? undefined : toSpanDraft(span, json);
}

/** Resources and scopes are sent once and stored with each span, so a small request could become a huge one. */
const REPEATED_BYTES_MAX = 64 * 1024 * 1024;

type Uses = { spans: number; readonly traces: Set<string> };

/** Throws payload_too_large when resources and scopes, repeated for their spans and traces, take too many bytes. */
function checkRepeats(spans: readonly Sent<OtlpSpan>[]): void {
  const resources = new Map<Attributes, Uses>();
  const scopes = new Map<OtlpScope, number>();
  for (const span of spans) {
    if (span === undefined || isUnreadable(span)) continue;
    const { resource, scope, traceId } = span;
    const uses = resources.get(resource) ?? { spans: 0, traces: new Set() };
    resources.set(resource, uses);
    uses.spans += 1;
    // Metadata and the expected output of a resource are kept with each of its traces, too.
    if (typeof traceId === 'string') uses.traces.add(traceId);
    scopes.set(scope, (scopes.get(scope) ?? 0) + 1);
  }
  let bytes = 0;
  for (const [resource, uses] of resources) {
    bytes += bytesOf(Object.fromEntries(resource)) * (uses.spans + uses.traces.size);
  }
  for (const [scope, uses] of scopes) bytes += bytesOf(scope) * uses;
  if (bytes <= REPEATED_BYTES_MAX) return;
  throw new Fault(
    'payload_too_large',
    `Resource attributes repeated for every span exceed ${REPEATED_BYTES_MAX} bytes; send fewer spans per request`,
  );
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
