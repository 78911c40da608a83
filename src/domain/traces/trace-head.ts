/** The head of an answer about a trace: the texts that stand for it, beside its evaluations and spans. */

import { jsonStringBytes } from '../../json/json-size.ts';
import type { RunCooperatively } from '../steps.ts';
import { inputText, outputText } from './search/trace-texts.ts';
import type { StoredTrace, TraceStore } from './telemetry-port.ts';
import type { ChosenTexts, Span, TraceTexts } from './trace.ts';
import type { TraceChoice } from './trace-aggregates.ts';
import { cutHeadError, cutHeadText, textUnits } from './trace-size.ts';

export type TraceHead = {
  readonly choice: TraceChoice;
  readonly input: string;
  readonly output: string;
  readonly expectedOutput: string | null;
  readonly errorJson: string | null;
  readonly asciiTree: string;
};

type ReadChosen = {
  readonly trace: StoredTrace;
  readonly choice: TraceChoice;
  /** Called with the size of each loaded span. */
  readonly countResponseBytes: (bytes: number) => void;
};

/** Fields of an answer beside its texts, rounded up: a page of a thousand traces fits, and has room for as much text. */
const HEAD_BYTES = 4 * 1024;

/** Reads the spans that stand for the trace. */
export async function readChosen(
  store: Pick<TraceStore, 'spans'>,
  { trace, choice, countResponseBytes }: ReadChosen,
): Promise<{ readonly texts: ChosenTexts; readonly spans: readonly Span[] }> {
  const chosen = new Map<string | null, Span>();
  // One by one: each may be as large as a request.
  for (const id of new Set([choice.inputFromId, choice.outputFromId, choice.errorFromId])) {
    const [span] = id === null ? [] : await store.spans(trace, [id]);
    if (span === undefined) continue;
    countResponseBytes(textUnits(span));
    chosen.set(id, span);
  }
  const texts = {
    inputJson: chosen.get(choice.inputFromId)?.inputJson ?? null,
    outputJson: chosen.get(choice.outputFromId)?.outputJson ?? null,
    errorJson: chosen.get(choice.errorFromId)?.errorJson ?? null,
  };
  return { texts, spans: [...chosen.values()] };
}

/** None of its texts can fill a page. */
export async function createHead(
  runCooperatively: RunCooperatively,
  { inputJson, outputJson, errorJson }: ChosenTexts,
  rest: Pick<TraceHead, 'choice' | 'expectedOutput' | 'asciiTree'>,
): Promise<TraceHead> {
  return {
    ...rest,
    input: inputJson === null ? '' : cutHeadText(await runCooperatively(inputText(inputJson))),
    output: outputJson === null ? '' : cutHeadText(await runCooperatively(outputText(outputJson))),
    errorJson: errorJson === null ? null : cutHeadError(errorJson),
  };
}

export function recordBytes({ metadataJson, expectedOutput }: TraceTexts): number {
  return HEAD_BYTES + Buffer.byteLength(metadataJson) + jsonStringBytes(expectedOutput ?? '');
}

/** Those of the head that the record does not have. */
export function headBytes({ input, output, asciiTree, errorJson, choice }: TraceHead): number {
  const texts = [input, output, asciiTree, ...choice.models];
  return texts.reduce((sum, text) => sum + jsonStringBytes(text), Buffer.byteLength(errorJson ?? ''));
}
