/** Reads what preconditions and mappings need from a stored trace, span by span: a trace may be larger than memory. */

import { isArray, isObject, parseFreeJson } from '../../json/free-json.ts';
import { parseFreeJsonInSteps } from '../../json/free-json-steps.ts';
import { type LosslessJson, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import type { RunSteps } from '../steps.ts';
import { inputText, outputText } from '../traces/search/trace-texts.ts';
import type { StoredTrace, TraceStore } from '../traces/telemetry-port.ts';
import type { Span, SpanType, TraceRecord } from '../traces/trace.ts';
import type { TraceChoice } from '../traces/trace-aggregates.ts';
import type { MappingSource, Precondition } from './monitor.ts';

export type TraceInputsDeps = {
  readonly traces: Pick<TraceStore, 'outline' | 'spans' | 'spanIdsOfType'>;
  /** Parses large texts with pauses. */
  readonly runSteps: RunSteps;
};

/** A trace that `find` answered. */
export type FoundTrace = StoredTrace & TraceRecord;

/** The same limit as for a request that runs an evaluator. */
export const INPUTS_MAX_BYTES = 10 * 1024 * 1024;
export const INPUTS_TOO_LARGE = Symbol('inputs too large');
/** Retrieval spans whose documents are read. */
const RETRIEVALS_MAX = 1_000;

export type TraceInputs = ReturnType<typeof createTraceInputs>;

export function createTraceInputs({ traces: store, runSteps }: TraceInputsDeps, trace: FoundTrace) {
  const metadata = parseFreeJson(trace.metadataJson);
  let choice: Promise<TraceChoice> | null = null;
  let leftBytes = INPUTS_MAX_BYTES;

  const member = (key: string): LosslessJson => (isObject(metadata) ? readMember(metadata, key) : null);

  async function readSpan(id: string | null): Promise<Span | null> {
    return id === null ? null : ((await store.spans(trace, [id]))[0] ?? null);
  }

  async function choose(): Promise<TraceChoice> {
    choice ??= store.outline(trace).then((outline) => outline.choice);
    return await choice;
  }

  async function readContexts(): Promise<LosslessJson> {
    const found: LosslessJson[] = [];
    for (const id of await store.spanIdsOfType(trace, { type: 'rag', order: 'first', limit: RETRIEVALS_MAX })) {
      const { contextsJson = null } = (await readSpan(id)) ?? {};
      if (contextsJson === null) continue;
      count(contextsJson);
      const contexts = await runSteps(parseFreeJsonInSteps(contextsJson));
      if (isArray(contexts)) for (const context of contexts) found.push(context);
    }
    return found.length === 0 ? null : found;
  }

  async function readSide(type: SpanType, side: 'input' | 'output'): Promise<LosslessJson> {
    const [id = null] = await store.spanIdsOfType(trace, { type, order: 'last', limit: 1 });
    return await textOf(await readSpan(id), side);
  }

  function count(text: string): void {
    leftBytes -= Buffer.byteLength(text);
    if (leftBytes < 0) throw INPUTS_TOO_LARGE;
  }

  async function textOf(span: Span | null, side: 'input' | 'output'): Promise<string | null> {
    const json = (side === 'input' ? span?.inputJson : span?.outputJson) ?? null;
    if (json === null) return null;
    count(json);
    return await runSteps(side === 'input' ? inputText(json) : outputText(json));
  }

  return {
    async holds({ field, value }: Precondition): Promise<boolean> {
      if (field === 'span.type') {
        if (typeof value !== 'string') return false;
        return (await store.spanIdsOfType(trace, { type: value, order: 'first', limit: 1 })).length > 0;
      }
      if (field === 'label') {
        const labels = member('labels');
        return isArray(labels) && labels.some((label) => label === value);
      }
      return stringifyLossless(member(field.slice('metadata.'.length))) === stringifyLossless(value);
    },
    /**
     * Null when the trace has no such value. Throws INPUTS_TOO_LARGE when all values together exceed INPUTS_MAX_BYTES.
     */
    async read(source: MappingSource): Promise<LosslessJson> {
      switch (source.kind) {
        case 'input':
          return await textOf(await readSpan((await choose()).inputFromId), 'input');
        case 'output':
          return await textOf(await readSpan((await choose()).outputFromId), 'output');
        case 'expected_output':
          if (trace.expectedOutput !== null) count(trace.expectedOutput);
          return trace.expectedOutput;
        case 'contexts':
          return await readContexts();
        case 'metadata':
          return member(source.key);
        case 'span':
          return await readSide(source.type, source.side);
      }
    },
  };
}
