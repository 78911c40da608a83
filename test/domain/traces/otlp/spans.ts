/** OpenTelemetry spans as read from a request, and the drafts made of them. */

import { runWithoutPauses } from '../../../../src/domain/steps.ts';
import type { SpanDraft } from '../../../../src/domain/traces/collector/collector-draft.ts';
import { createAttributeJson } from '../../../../src/domain/traces/otlp/attribute-json.ts';
import { toBatchDraft } from '../../../../src/domain/traces/otlp/batch.ts';
import { createView } from '../../../../src/domain/traces/otlp/create-view.ts';
import type { Attributes, OtlpSpan } from '../../../../src/domain/traces/otlp/span.ts';
import { toSpanDraft } from '../../../../src/domain/traces/otlp/span-draft.ts';
import type { SpanView } from '../../../../src/domain/traces/otlp/span-view.ts';
import type { LosslessJson } from '../../../../src/json/lossless-json.ts';

export const START_MS = 1_790_000_000_000;
export const START_NANO = BigInt(START_MS) * 1_000_000n;

export function attributesOf(of: { readonly [key: string]: LosslessJson }): Attributes {
  return new Map(Object.entries(of));
}

export function spanWith(of: { readonly [key: string]: LosslessJson }, changes: Partial<OtlpSpan> = {}): OtlpSpan {
  return {
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: '0123456789abcdef',
    parentId: undefined,
    name: 'step',
    kind: 1,
    startNano: START_NANO,
    endNano: START_NANO + 5_000_000n,
    attributes: attributesOf(of),
    events: [],
    links: [],
    status: { code: 0, message: '' },
    scope: { name: 'tests', version: '' },
    resource: new Map(),
    ...changes,
  };
}

export function viewOf(span: OtlpSpan): SpanView {
  return createView(span, createAttributeJson({ bytes: 1000, depth: 0 }));
}

export function draftOf(of: { readonly [key: string]: LosslessJson }, changes: Partial<OtlpSpan> = {}): SpanDraft {
  return toSpanDraft(spanWith(of, changes), createAttributeJson({ bytes: 1000, depth: 0 }));
}

/** The draft of the only trace of the spans. */
export function traceOf(...spans: readonly OtlpSpan[]) {
  const { traces } = runWithoutPauses(toBatchDraft({ spans, bytes: 1000, depth: 0 }));
  const [trace] = traces;
  if (trace === undefined || traces.length > 1) throw new Error('the spans are not of one trace');
  return trace;
}
