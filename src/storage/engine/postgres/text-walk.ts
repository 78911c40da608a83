/** Walks over the traces of each project in the order of their last change, so that one that changes is met again. */

import type pg from 'pg';
import {
  LIST_SPANS,
  LIST_TRACES,
  listProjects,
  type Phase,
  type Project,
  type SizedSpan,
  TRACES_AT_ONCE,
  type Trace,
} from './text-moves.ts';

/** Of a project in a step; one trace may have more. */
const BYTES_OF_PROJECT = 16 * 1024 * 1024;
const SPANS_AT_ONCE = 20_000;
/** With more of them it is no project that fails. */
const FAILURES_MAX = 5;

export type WalkTurn = { readonly client: pg.PoolClient; readonly nowMs: number; readonly endsAtMs: number };
type Listed = {
  readonly traces: readonly Trace[];
  /** Those with long texts. */
  readonly spans: readonly SizedSpan[];
  /** Whether these are all traces that are due. */
  readonly isAll: boolean;
};
type Walk = {
  /** How long a trace has not changed before its texts are moved; half of it before they are copied. */
  readonly afterMs: number;
  /** Shorter texts stay. */
  readonly minBytes: number;
};

export function createTextWalk({ afterMs, minBytes }: Walk) {
  /** The last change of traces that are due. */
  const dueMs = (nowMs: number, phase: Phase) => nowMs - (phase === 'copied' ? afterMs / 2 : afterMs);

  return {
    /** In any order, so that none waits for all others. Whether `body` returned true for all of them. */
    async forEachProject(
      { client, nowMs, endsAtMs }: WalkTurn,
      phase: Phase,
      body: (project: Project) => Promise<boolean>,
    ): Promise<boolean> {
      const { rows } = await client.query<Project>(listProjects(phase), [dueMs(nowMs, phase)]);
      let isAll = true;
      const failures: unknown[] = [];
      for (const project of rows.toSorted(() => Math.random() - 0.5)) {
        if (performance.now() > endsAtMs && failures.length === 0) return false;
        // One that fails must not keep the others waiting.
        const isThrough = await body(project).catch((error: unknown) => {
          failures.push(error);
          return false;
        });
        isAll &&= isThrough;
        if (failures.length >= FAILURES_MAX) break;
      }
      if (failures.length > 0) throw failures[0];
      return isAll;
    },

    async list({ client, nowMs }: WalkTurn, phase: Phase, project: Project): Promise<Listed> {
      const { projectNumber, atMs, id, endMs, endId } = project;
      const asked = [projectNumber, atMs, id, dueMs(nowMs, phase), endMs, endId];
      const { rows: all } = await client.query<Trace>(LIST_TRACES, asked);
      const listed = cutBySpans(all);
      const sequences = listed.map(({ sequence }) => sequence);
      const { rows: spans } = await client.query<SizedSpan>(LIST_SPANS, [projectNumber, sequences, minBytes]);
      const traces = cutTraces(listed, spans);
      const isTaken = new Set(traces.map(({ sequence }) => sequence));
      const isAll = all.length < TRACES_AT_ONCE && traces.length === all.length;
      return { traces, spans: spans.filter(({ sequence }) => isTaken.has(sequence)), isAll };
    },
  };
}

/** The first traces, up to so many spans: they are gone through for the long ones. */
function cutBySpans(traces: readonly Trace[]): readonly Trace[] {
  let left = SPANS_AT_ONCE;
  const end = traces.findIndex(({ spanCount }) => {
    left -= spanCount;
    return left <= 0;
  });
  return end < 0 ? traces : traces.slice(0, end + 1);
}

/** The first traces, up to so much text. */
function cutTraces(traces: readonly Trace[], spans: readonly SizedSpan[]): readonly Trace[] {
  const bytes = new Map<number, number>();
  for (const span of spans) bytes.set(span.sequence, (bytes.get(span.sequence) ?? 0) + span.bytes);
  let left = BYTES_OF_PROJECT;
  const end = traces.findIndex(({ sequence }) => {
    left -= bytes.get(sequence) ?? 0;
    return left <= 0;
  });
  return end < 0 ? traces : traces.slice(0, end + 1);
}
