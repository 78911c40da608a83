/** Reads traces for lists, in a few reads for all of them: as readRow shows them without spans, but for the tree. */

import type { Project } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { readReferences } from '../evaluations/result-inputs.ts';
import { feedbackBytes } from '../feedback/feedback-event.ts';
import { termStartMs, traceTermDays } from '../retention-terms.ts';
import type { RunCooperatively } from '../steps.ts';
import { readSaid, type Said, type SaidDeps } from './said.ts';
import { createShowEvaluation, LISTED_TEXTS_MAX_BYTES, type ShownEvaluation } from './shown-inputs.ts';
import type { StoredTrace, TraceRow, TraceStore } from './telemetry-port.ts';
import type { Span, TraceRecord } from './trace.ts';
import { createHead, headBytes, readChosen, recordBytes } from './trace-head.ts';
import { createPageCursors } from './trace-page.ts';
import type { Row } from './trace-row.ts';
import { evaluationBytes, linesBytes, RESPONSE_MAX_BYTES } from './trace-size.ts';

type TraceRowsDeps = SaidDeps & {
  readonly store: TraceStore;
  readonly cursors: CursorCodec;
  readonly runCooperatively: RunCooperatively;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export type TraceRows = {
  /** By id; without unknown and expired traces, and without those that are to be read one by one. */
  read(
    traceIds: readonly string[],
    at: { readonly project: Project; readonly nowMs: number },
  ): Promise<ReadonlyMap<string, Row>>;
};

export function createTraceRows({
  store,
  cursors,
  runCooperatively,
  traceDefaultDays,
  ...deps
}: TraceRowsDeps): TraceRows {
  async function show(
    project: Project,
    { record, choice, hasSpans, events, annotationCount, ...row }: ShownRow,
  ): Promise<Row> {
    const trace = { ...record, projectNumber: project.number };
    let bytes = recordBytes(record) + feedbackBytes(events);
    const countResponseBytes = (more: number) => {
      bytes += more;
    };
    // References of evaluations are to texts of these spans, too.
    const isReading =
      row.texts === null || row.evaluations.some(({ inputsJson }) => readReferences(inputsJson) !== null);
    const chosen = isReading ? await readChosen(store, { trace, choice, countResponseBytes }) : null;
    const texts = chosen?.texts ?? row.texts ?? NO_TEXTS;
    const head = await createHead(runCooperatively, texts, {
      choice,
      expectedOutput: record.expectedOutput,
      asciiTree: '',
    });
    countResponseBytes(headBytes(head));
    const evaluations = await showEach(row, { trace, spans: chosen?.spans ?? [], countResponseBytes });
    const pages = createPageCursors(cursors, ['trace-spans', project.id, record.traceId]);
    const nextSpansCursor = hasSpans ? pages.seal({ list: 'spans', after: null }) : null;
    const view = {
      record,
      ...head,
      events,
      annotationCount,
      evaluations,
      spans: [],
      nextSpansCursor,
      isShortOfEvaluations: false,
    };
    return { view, bytes };
  }

  async function showEach(
    { evaluations }: Pick<TraceRow, 'evaluations'>,
    { trace, spans, countResponseBytes }: Showing,
  ): Promise<readonly ShownEvaluation[]> {
    const showOne = createShowEvaluation(
      { store, runCooperatively },
      { trace, listSpans: () => spans, maxBytes: LISTED_TEXTS_MAX_BYTES, countResponseBytes },
    );
    const shown: ShownEvaluation[] = [];
    for (const evaluation of evaluations) {
      countResponseBytes(evaluationBytes(evaluation) + linesBytes(evaluation));
      shown.push(await showOne(evaluation));
    }
    return shown;
  }

  return {
    async read(traceIds, { project, nowMs }) {
      const termDays = traceTermDays(project.traceRetentionDays, traceDefaultDays);
      const expiredBeforeMs = termStartMs(termDays, nowMs) ?? Number.NEGATIVE_INFINITY;
      const rows = new Map<string, Row>();
      const stored = await store.rows(project.number, traceIds);
      const found = new Map(stored.map((row) => [row.record.traceId, row]));
      let bytes = 0;
      // What an answer has no room for is not read: feedback may take more than the traces.
      for (let start = 0; start < traceIds.length && bytes <= RESPONSE_MAX_BYTES; start += SAID_AT_ONCE) {
        const some = traceIds.slice(start, start + SAID_AT_ONCE).flatMap((traceId) => found.get(traceId) ?? []);
        const shown = some.filter(({ record }) => record.insertedAtMs >= expiredBeforeMs);
        const saidOf = await readSaid(
          deps,
          project.number,
          shown.map(({ record }) => record.traceId),
        );
        for (const row of shown) {
          const { traceId } = row.record;
          const made = await show(project, { ...row, ...saidOf(traceId) });
          rows.set(traceId, made);
          bytes += made.bytes;
        }
      }
      return rows;
    },
  };
}

type ShownRow = TraceRow & Said;

type Showing = {
  readonly trace: StoredTrace & TraceRecord;
  readonly spans: readonly Span[];
  readonly countResponseBytes: (bytes: number) => void;
};

/** Traces whose feedback is read at once. */
const SAID_AT_ONCE = 25;
const NO_TEXTS = { inputJson: null, outputJson: null, errorJson: null };
