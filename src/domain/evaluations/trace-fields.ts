/** Reads fields of a trace and of its spans, as evaluators get them. */

import { isArray, isObject, parseFreeJson } from '../../json/free-json.ts';
import { parseFreeJsonInSteps } from '../../json/free-json-steps.ts';
import { type LosslessJson, readMember } from '../../json/lossless-json.ts';
import type { RunCooperatively } from '../steps.ts';
import { inputText, outputText } from '../traces/search/trace-texts.ts';
import type { StoredTrace, TraceStore } from '../traces/telemetry-port.ts';
import type { Span, TraceTexts } from '../traces/trace.ts';
import type { TraceField } from './result-inputs.ts';

type TraceFieldsDeps = {
  readonly store: Pick<TraceStore, 'spanIdsOfType'>;
  /** Null for a span that is not stored. */
  readonly readSpan: (spanId: string) => Promise<Span | null>;
  /** Called with each text before it is parsed; may throw. */
  readonly count: (text: string) => void;
  /** Parses large texts with pauses. */
  readonly runCooperatively: RunCooperatively;
};

const METADATA = 'metadata.';
/** Retrieval spans whose documents are read. */
const RETRIEVALS_MAX = 1_000;
/** Thrown where a field has more than an evaluator may be given. */
export const INPUTS_TOO_LARGE = Symbol('inputs too large');

export function metadataField(key: string): TraceField {
  return { spanId: null, name: METADATA + key };
}

export function createTraceFields(
  { store, readSpan, count, runCooperatively }: TraceFieldsDeps,
  trace: StoredTrace & TraceTexts,
) {
  let metadata: LosslessJson | undefined;

  function member(key: string): LosslessJson {
    metadata ??= parseFreeJson(trace.metadataJson);
    return isObject(metadata) ? readMember(metadata, key) : null;
  }

  async function readContexts(span: Span | null): Promise<readonly LosslessJson[]> {
    const { contextsJson = null } = span ?? {};
    if (contextsJson === null) return [];
    count(contextsJson);
    const contexts = await runCooperatively(parseFreeJsonInSteps(contextsJson));
    return isArray(contexts) ? contexts : [];
  }

  async function readAllContexts(): Promise<LosslessJson> {
    const found: LosslessJson[] = [];
    const ids = await store.spanIdsOfType(trace, { type: 'rag', order: 'first', limit: RETRIEVALS_MAX + 1 });
    if (ids.length > RETRIEVALS_MAX) throw INPUTS_TOO_LARGE;
    for (const id of ids) {
      for (const context of await readContexts(await readSpan(id))) found.push(context);
    }
    return found.length === 0 ? null : found;
  }

  async function readText(json: string | null, side: 'input' | 'output'): Promise<string | null> {
    if (json === null) return null;
    count(json);
    return await runCooperatively(side === 'input' ? inputText(json) : outputText(json));
  }

  async function readOfSpan(span: Span | null, name: string): Promise<LosslessJson> {
    if (span === null) return null;
    if (name === 'input') return await readText(span.inputJson, 'input');
    if (name === 'output') return await readText(span.outputJson, 'output');
    const contexts = name === 'contexts' ? await readContexts(span) : [];
    return contexts.length === 0 ? null : contexts;
  }

  return {
    /** A value of the metadata; null without it. */
    member,
    /** Null when the trace has no such value. */
    async read({ spanId, name }: TraceField): Promise<LosslessJson> {
      if (spanId !== null) return await readOfSpan(await readSpan(spanId), name);
      if (name === 'contexts') return await readAllContexts();
      if (name.startsWith(METADATA)) return member(name.slice(METADATA.length));
      const text = name === 'expected_output' ? trace.expectedOutput : null;
      if (text !== null) count(text);
      return text;
    },
  };
}
