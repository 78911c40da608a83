/** Reads what preconditions and mappings need from a stored trace, span by span: a trace may be larger than memory. */

import { isArray } from '../../json/free-json.ts';
import { type LosslessJson, stringifyLossless } from '../../json/lossless-json.ts';
import type { TraceField } from '../evaluations/result-inputs.ts';
import { createTraceFields, INPUTS_TOO_LARGE, metadataField } from '../evaluations/trace-fields.ts';
import type { RunCooperatively } from '../steps.ts';
import type { StoredTrace, TraceStore } from '../traces/telemetry-port.ts';
import type { Span, TraceTexts } from '../traces/trace.ts';
import type { TraceChoice } from '../traces/trace-aggregates.ts';
import type { MappingSource, Precondition } from './monitor.ts';

export type TraceInputsDeps = {
  readonly traces: Pick<TraceStore, 'outline' | 'spans' | 'spanIdsOfType'>;
  /** Parses large texts with pauses. */
  readonly runCooperatively: RunCooperatively;
};

/** The same limit as for a request that runs an evaluator. */
export const INPUTS_MAX_BYTES = 10 * 1024 * 1024;

export type TraceInputs = ReturnType<typeof createTraceInputs>;

export function createTraceInputs(
  { traces: store, runCooperatively }: TraceInputsDeps,
  trace: StoredTrace & TraceTexts,
) {
  const fields = createTraceFields({ store, readSpan, count, runCooperatively }, trace);
  let choice: Promise<TraceChoice> | null = null;
  let leftBytes = INPUTS_MAX_BYTES;

  async function readSpan(id: string): Promise<Span | null> {
    return (await store.spans(trace, [id]))[0] ?? null;
  }

  function count(text: string): void {
    leftBytes -= Buffer.byteLength(text);
    if (leftBytes < 0) throw INPUTS_TOO_LARGE;
  }

  async function choose(): Promise<TraceChoice> {
    choice ??= store.outline(trace).then((outline) => outline.choice);
    return await choice;
  }

  return {
    async holds({ field, value }: Precondition): Promise<boolean> {
      if (field === 'span.type') {
        if (typeof value !== 'string') return false;
        return (await store.spanIdsOfType(trace, { type: value, order: 'first', limit: 1 })).length > 0;
      }
      if (field === 'label') {
        const labels = fields.member('labels');
        return isArray(labels) && labels.some((label) => label === value);
      }
      return stringifyLossless(fields.member(field.slice('metadata.'.length))) === stringifyLossless(value);
    },
    /** The field that is the source; null when no span is. */
    async find(source: MappingSource): Promise<TraceField | null> {
      switch (source.kind) {
        case 'input':
          return fieldOf((await choose()).inputFromId, 'input');
        case 'output':
          return fieldOf((await choose()).outputFromId, 'output');
        case 'span': {
          const [id = null] = await store.spanIdsOfType(trace, { type: source.type, order: 'last', limit: 1 });
          return fieldOf(id, source.side);
        }
        case 'metadata':
          return metadataField(source.key);
        default:
          return { spanId: null, name: source.kind };
      }
    },
    /**
     * Null when the trace has no such value. Throws INPUTS_TOO_LARGE when all values together exceed INPUTS_MAX_BYTES.
     */
    read: (field: TraceField): Promise<LosslessJson> => fields.read(field),
  };
}

function fieldOf(spanId: string | null, name: string): TraceField | null {
  return spanId === null ? null : { spanId, name };
}
