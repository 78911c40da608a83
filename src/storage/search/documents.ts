/** What filters have to know of traces, read for some of them at once. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SpanSummary } from '../../domain/trace.ts';
import { aggregatesOf, choiceOf, type TraceChoice } from '../../domain/trace-aggregates.ts';
import type { Needs, SearchDocument } from '../../domain/trace-filter.ts';
import { inputText, outputText } from '../../domain/trace-texts.ts';
import type { RowOf } from '../questions.ts';
import { unpackTyped } from '../rows/codes.ts';
import type { SearchAsking, SearchQuestions } from './trace-search.ts';

export type Candidate = {
  readonly sequence: number;
  readonly spanCount: number;
  readonly hasError: boolean;
  readonly metadataBytes: number;
};

export type Read<Row> = { readonly row: Row; readonly document: Document };
type Document = Omit<SearchDocument, 'spans'> & {
  readonly choice: TraceChoice | null;
  readonly spans: readonly SpanFacts[];
};

/** Whether it is enough; a promise where it takes a while to tell. */
type TakeText = (text: string) => boolean | Promise<boolean>;

export type Documents = {
  /** In parts that can be read at once. */
  cut<Row extends Candidate>(rows: readonly Row[]): readonly (readonly Row[])[];
  /** Without the texts of spans. */
  read<Row extends Candidate>(part: readonly Row[]): Promise<readonly Read<Row>[]>;
  /** Takes the texts of a trace that a search looks at, until `take` says that it is enough. */
  forEachText(row: Candidate, document: Document, take: TakeText): Promise<boolean>;
};

// A part may have one trace of more spans.
const SPANS_AT_ONCE = 2_000;
// The message of each may have 1 MiB.
const ERRORS_AT_ONCE = 8;
const EVALUATED_AT_ONCE = 200;
// Read along with their spans, even of spans that do not speak for their trace.
const SHORT_TEXT_BYTES = 2_048;
// Or one trace of more: a few searches at once are to fit into the heap of a thread.
const METADATA_BYTES_AT_ONCE = 2 * 1024 * 1024;

export function createDocuments(
  { questions, ask }: SearchAsking,
  {
    projectNumber,
    needs,
    isEachLookedAt = false,
  }: { readonly projectNumber: number; readonly needs: Needs; readonly isEachLookedAt?: boolean },
): Documents {
  async function spansOf(sequences: readonly number[]) {
    if (!needs.spans) return NONE;
    const [sequence] = sequences;
    if (sequences.length !== 1 || sequence === undefined) return Map.groupBy(await listSpans(sequences), sequenceOf);
    const spans: SpanFacts[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const given = { projectNumber, sequence, after, limit: SPANS_AT_ONCE };
      const some: readonly SpanFacts[] = await ask(questions.listSpansBehind, given);
      for (const span of some) spans.push(span);
      after = some.length < SPANS_AT_ONCE ? null : (some.at(-1)?.spanId ?? null);
      if (after !== null) await nextTurn();
    }
    return new Map([[sequence, spans]]);
  }

  async function listSpans(sequences: readonly number[]): Promise<readonly SpanFacts[]> {
    if (!isEachLookedAt) return await ask(questions.listSpans, { projectNumber, sequences });
    return await ask(questions.listSpansWithTexts, { projectNumber, sequences, bytesMax: SHORT_TEXT_BYTES });
  }

  async function takeErrors(sequence: number, take: TakeText): Promise<boolean> {
    for (let after: string | null = ''; after !== null; ) {
      const given = { projectNumber, sequence, after, limit: ERRORS_AT_ONCE };
      const some: readonly ErrorRow[] = await ask(questions.listErrors, given);
      for (const { errorJson } of some) if (errorJson !== null && (await take(messageOf(errorJson)))) return true;
      after = some.length < ERRORS_AT_ONCE ? null : (some.at(-1)?.spanId ?? null);
      if (after !== null) await nextTurn();
    }
    return false;
  }

  async function evaluationsOf(sequences: readonly number[]) {
    if (!needs.evaluations) return NONE;
    return Map.groupBy(await ask(questions.listEvaluations, { projectNumber, sequences }), sequenceOf);
  }

  async function metadataOf(sequences: readonly number[]) {
    const rows = needs.metadata ? await ask(questions.listMetadata, { projectNumber, sequences }) : [];
    return new Map(rows.map(({ sequence, metadataJson }) => [sequence, metadataJson]));
  }

  async function textsOf(sequence: number, span: SpanFacts | undefined): Promise<Texts> {
    if (span === undefined) return NO_TEXTS;
    const { spanId, hasInput, hasOutput, inputText = null, outputText = null } = span;
    if ((!hasInput || inputText !== null) && (!hasOutput || outputText !== null)) {
      return { inputJson: unpackTyped(inputText), outputJson: unpackTyped(outputText) };
    }
    const [texts] = await ask(questions.findTexts, { projectNumber, sequence, spanId });
    return texts ?? NO_TEXTS;
  }

  return {
    cut(rows) {
      const parts: (typeof rows)[number][][] = [];
      let [spans, bytes] = [0, 0];
      for (const row of rows) {
        const part = parts.at(-1);
        spans += row.spanCount;
        bytes += row.metadataBytes;
        const isFull =
          (needs.spans && spans > SPANS_AT_ONCE) ||
          (needs.metadata && bytes > METADATA_BYTES_AT_ONCE) ||
          (needs.evaluations && part?.length === EVALUATED_AT_ONCE);
        if (part !== undefined && !isFull) part.push(row);
        else {
          parts.push([row]);
          [spans, bytes] = [row.spanCount, row.metadataBytes];
        }
      }
      return parts;
    },

    async read(part) {
      const sequences = part.map(({ sequence }) => sequence);
      const [spans, evaluations] = [await spansOf(sequences), await evaluationsOf(sequences)];
      const metadata = await metadataOf(sequences);
      return part.map((row) => {
        const of = (spans.get(row.sequence) ?? []) as readonly SpanFacts[];
        const choice = needs.spans ? choiceOf(aggregatesOf(of.map(toSummary))) : null;
        const document = {
          // One that was removed meanwhile has none.
          metadataJson: metadata.get(row.sequence) ?? '{}',
          hasError: row.hasError,
          name: choice?.name ?? '',
          choice,
          spans: of,
          evaluations: (evaluations.get(row.sequence) ?? []) as SearchDocument['evaluations'],
        };
        return { row, document };
      });
    },

    async forEachText({ sequence }, { name, spans, choice }, take) {
      if (await take(name)) return true;
      const names = new Set(spans.map((span) => span.name ?? span.type));
      for (const each of names) if (await take(each)) return true;
      const speaking = (id: string | null | undefined) => spans.find(({ spanId }) => spanId === id);
      const { inputJson } = await textsOf(sequence, speaking(choice?.inputFromId));
      if (inputJson !== null && (await take(inputText(inputJson)))) return true;
      const { outputJson } = await textsOf(sequence, speaking(choice?.outputFromId));
      if (outputJson !== null && (await take(outputText(outputJson)))) return true;
      return choice?.errorFromId != null && (await takeErrors(sequence, take));
    },
  };
}

type SpanFacts = RowOf<SearchQuestions['listSpans']> & {
  /** Where they were read along. */
  readonly inputText?: string | null;
  readonly outputText?: string | null;
};
type Texts = RowOf<SearchQuestions['findTexts']>;
const NO_TEXTS: Texts = { inputJson: null, outputJson: null };
type ErrorRow = RowOf<SearchQuestions['listErrors']>;
const NONE: ReadonlyMap<number, readonly never[]> = new Map();

function sequenceOf({ traceSequence }: { readonly traceSequence: number }): number {
  return traceSequence;
}

/** Our own stored text. */
function messageOf(errorJson: string): string {
  return (JSON.parse(errorJson) as { readonly message: string }).message;
}

const NO_NUMBERS = {
  firstTokenAtMs: null,
  promptTokens: null,
  completionTokens: null,
  reasoningTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  costNanoUsd: null,
  tokensEstimated: false,
};

/** What tells which spans speak for the trace. */
function toSummary({ traceSequence: _, inputText: __, outputText: ___, ...span }: SpanFacts): SpanSummary {
  return { ...NO_NUMBERS, ...span };
}
