/**
 * Shows the inputs of results. A reference to a field of the trace becomes its text as long as that is the text that was
 * judged; else its excerpt is shown.
 */

import type { LosslessJson } from '../../json/lossless-json.ts';
import { readField } from '../evaluations/evaluation-data.ts';
import { excerptOf, hashInput, type InputReference, inputText, readReferences } from '../evaluations/result-inputs.ts';
import { createTraceFields, INPUTS_TOO_LARGE } from '../evaluations/trace-fields.ts';
import type { RunCooperatively } from '../steps.ts';
import type { StoredTrace, TraceStore } from './telemetry-port.ts';
import type { Evaluation, Span, TraceTexts } from './trace.ts';
import { textUnits } from './trace-size.ts';

/** An evaluation whose inputs hold no references. */
export type ShownEvaluation = Omit<Evaluation, 'inputsJson'> & { readonly shownInputsJson: string | null };

export type ShowEvaluation = (evaluation: Evaluation) => Promise<ShownEvaluation>;

type ShowDeps = {
  readonly store: Pick<TraceStore, 'spans' | 'spanIdsOfType'>;
  readonly runCooperatively: RunCooperatively;
};

type Showing = {
  readonly trace: StoredTrace & TraceTexts;
  /** The spans that are loaded already. */
  readonly listSpans: () => readonly Span[];
  /** Of the texts that are shown for references; of further ones the excerpts are. */
  readonly maxBytes: number;
  /** Counts bytes of the answer before they are sent; throws the unavailable Fault without room. */
  readonly countResponseBytes: (bytes: number) => void;
};

/** In an answer about one trace: many results may refer to the same large text. */
export const SHOWN_TEXTS_MAX_BYTES = 2 * 1024 * 1024;
/** Of each trace in an answer about many. */
export const LISTED_TEXTS_MAX_BYTES = 64 * 1024;

/** Spans that are read for references alone, one at a time: each may be as large as a request. */
const READ_SPANS_MAX = 16;
const READ_MAX_UNITS = 8 * 1024 * 1024;
const NOT_READ = Symbol('not read');

/** For the evaluations of one answer, in their order. Reads nothing for evaluations without references. */
export function createShowEvaluation(deps: ShowDeps, showing: Showing): ShowEvaluation {
  let resolve: Resolve | null = null;
  return async ({ inputsJson, ...evaluation }) => {
    const stored = readReferences(inputsJson);
    if (stored === null) return { ...evaluation, shownInputsJson: inputsJson };
    resolve ??= createResolve(deps, showing);
    const shown: [string, LosslessJson][] = [];
    for (const [field, input] of Object.entries(stored)) {
      shown.push([field, 'reference' in input ? await resolve(field, input.reference) : input.value]);
    }
    return { ...evaluation, shownInputsJson: JSON.stringify(Object.fromEntries(shown)) };
  };
}

type Resolve = (field: string, reference: InputReference) => Promise<LosslessJson>;

/** A text of the trace; null: there is none, or too much was read before. */
type Found = { readonly value: LosslessJson; readonly sha256: string; readonly bytes: number } | null;

function createResolve(deps: ShowDeps, { maxBytes, countResponseBytes, ...showing }: Showing): Resolve {
  const fields = createTraceFields(
    { ...deps, readSpan: createReadSpan(deps, { ...showing, countResponseBytes }), count: () => {} },
    showing.trace,
  );
  const known = new Map<string, Found>();
  let leftBytes = maxBytes;

  async function find(field: string, { origin }: InputReference): Promise<Found> {
    const key = JSON.stringify([field, origin.spanId, origin.name]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = await read(field, origin);
    known.set(key, found);
    return found;
  }

  async function read(field: string, origin: InputReference['origin']): Promise<Found> {
    try {
      const value = await fields.read(origin);
      if (value === null) return null;
      const shaped = readField(field, value);
      return { value: shaped, sha256: hashInput(inputText(shaped)), bytes: Buffer.byteLength(JSON.stringify(shaped)) };
    } catch (error) {
      if (error === NOT_READ || error === INPUTS_TOO_LARGE) return null;
      throw error;
    }
  }

  return async (field, reference) => {
    const found = reference.bytes > leftBytes ? null : await find(field, reference);
    if (found === null || found.sha256 !== reference.sha256 || found.bytes > leftBytes) return excerptOf(reference);
    leftBytes -= found.bytes;
    countResponseBytes(found.bytes);
    return found.value;
  };
}

/** Throws NOT_READ for further spans than may be read. */
function createReadSpan({ store }: ShowDeps, { trace, listSpans, countResponseBytes }: Omit<Showing, 'maxBytes'>) {
  const loaded = new Map<string, Span | null>(listSpans().map((span) => [span.spanId, span]));
  let leftSpans = READ_SPANS_MAX;
  let leftUnits = READ_MAX_UNITS;
  return async (id: string): Promise<Span | null> => {
    const before = loaded.get(id);
    if (before !== undefined) return before;
    if (leftSpans === 0 || leftUnits <= 0) throw NOT_READ;
    const [span = null] = await store.spans(trace, [id]);
    leftSpans -= 1;
    loaded.set(id, span);
    if (span === null) return null;
    leftUnits -= textUnits(span);
    countResponseBytes(textUnits(span));
    return span;
  };
}
