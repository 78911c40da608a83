/** Reads what preconditions and mappings need from a stored trace, span by span: a trace may be larger than memory. */

import { isArray, isObject, parseFreeJson } from '../../json/free-json.ts';
import { type LosslessJson, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import type { StoredTrace, TraceStore } from '../store.ts';
import { inputText, outputText } from '../traces/search/trace-texts.ts';
import type { Span, SpanType, TraceRecord } from '../traces/trace.ts';
import type { TraceChoice } from '../traces/trace-aggregates.ts';
import type { Precondition } from './monitor.ts';
import type { MappingSource } from './sources.ts';

type ReadTrace = Pick<TraceStore, 'outline' | 'spans' | 'spanIdsOfType'>;

/** A trace that `find` answered. */
export type FoundTrace = StoredTrace & TraceRecord;

export type TraceInputs = {
  holds(precondition: Precondition): Promise<boolean>;
  /** Null when the trace has no such value. Throws INPUTS_TOO_LARGE when all values together exceed INPUTS_MAX_BYTES. */
  read(source: MappingSource): Promise<LosslessJson>;
};

/** The same limit as for a request that runs an evaluator. */
export const INPUTS_MAX_BYTES = 10 * 1024 * 1024;
export const INPUTS_TOO_LARGE = Symbol('inputs too large');
/** Retrieval spans whose documents are read. */
const RETRIEVALS_MAX = 1_000;

export function createTraceInputs(store: ReadTrace, trace: FoundTrace): TraceInputs {
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
      const contexts = parseFreeJson(contextsJson);
      if (isArray(contexts)) found.push(...contexts);
    }
    return found.length === 0 ? null : found;
  }

  async function readSide(type: SpanType, side: 'input' | 'output'): Promise<LosslessJson> {
    const [id = null] = await store.spanIdsOfType(trace, { type, order: 'last', limit: 1 });
    return textOf(await readSpan(id), side);
  }

  function count(text: string): void {
    leftBytes -= Buffer.byteLength(text);
    if (leftBytes < 0) throw INPUTS_TOO_LARGE;
  }

  function textOf(span: Span | null, side: 'input' | 'output'): string | null {
    const json = (side === 'input' ? span?.inputJson : span?.outputJson) ?? null;
    if (json === null) return null;
    count(json);
    return side === 'input' ? inputText(json) : outputText(json);
  }

  return {
    async holds({ field, value }) {
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
    async read(source) {
      switch (source.kind) {
        case 'input':
          return textOf(await readSpan((await choose()).inputFromId), 'input');
        case 'output':
          return textOf(await readSpan((await choose()).outputFromId), 'output');
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
