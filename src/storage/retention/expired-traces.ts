/**
 * Removes traces that are past their term, with all that belongs to them. A trace too large for one go is put out of
 * reach first: under the negative number of its project no question finds it, and what is left of it goes with the
 * steps to come, whatever its project chooses meanwhile.
 */

import type { TraceCut } from '../../domain/store.ts';
import { takeOffHours } from '../analytics/removed-hours.ts';
import type { Compiled } from '../questions.ts';
import type * as source from './questions.ts';
import type { Pace } from './walk.ts';

export type RetentionQuestions = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

type Trace = { readonly projectNumber: number; readonly traceId: string; readonly sequence: number };

/** With spans and evaluations, or more than a step may remove. */
type Expired = Trace & { readonly parts: number };

export type StepOfTraces = Pace & {
  /** Traces up to this one, in the order in which they came, have been looked at. */
  readonly after: number;
  /** No trace from this one on came in before any cut. */
  readonly before: number;
  readonly cuts: readonly TraceCut[];
};

// Looking at a trace costs a fraction of removing a row.
const TRACES_AT_ONCE = 1000;

/** `next` is where the following step begins; null when nothing is left. */
export async function removeExpiredTraces(
  questions: RetentionQuestions,
  step: StepOfTraces,
): Promise<{ readonly removed: number; readonly next: number | null }> {
  const { ask, change, after, cuts, rowsMax, rowsAtOnce, isOver } = step;
  let next: number | null = after;
  let rows = 0;
  let removed = 0;
  // However little time there is, every step gets somewhere.
  const isSpent = () => rows > 0 && (rows >= rowsMax || isOver());

  /** False when there was no room or no time for all of it. */
  async function eraseHidden(): Promise<boolean> {
    while (!isSpent()) {
      const [hidden] = await ask(questions.findHiddenTrace, {});
      if (hidden === undefined) return true;
      const { projectNumber, sequence } = hidden;
      const wanted = Math.min(rowsAtOnce, rowsMax - rows);
      const trace = { projectNumber: -projectNumber, sequence };
      let parts = await change(questions.removeSomeSpans, { ...trace, limit: wanted });
      if (parts < wanted) {
        parts += await change(questions.removeSomeEvaluations, { ...trace, limit: wanted - parts });
      }
      rows += parts;
      if (parts === wanted) continue;
      await change(questions.removeTraces, { projectNumber, traceIds: [hiddenId(sequence)] });
      rows += 1;
      removed += 1;
    }
    return false;
  }

  async function removeWhole(batch: readonly Trace[]): Promise<void> {
    await takeOffHours(step, questions, batch);
    for (const [projectNumber, traces] of Map.groupBy(batch, (trace) => trace.projectNumber)) {
      const sequences = traces.map(({ sequence }) => sequence);
      await change(questions.markStored, { projectNumber, sequences });
      await change(questions.removeSpans, { projectNumber, sequences });
      await change(questions.removeEvaluations, { projectNumber, sequences });
      await change(questions.removeJobs, { projectNumber, sequences });
      await change(questions.removeTraces, { projectNumber, traceIds: traces.map(({ traceId }) => traceId) });
    }
  }

  // What is out of reach already comes first.
  if (!(await eraseHidden())) return { removed, next };
  if (cuts.length === 0) return { removed, next: null };
  const { expired, end } = await holdExpired(questions, step);
  for (let start = 0; start < expired.length; ) {
    if (isSpent()) return { removed, next };
    const room = Math.min(rowsAtOnce, rowsMax - rows);
    const batch = takeWhole(expired, start, room);
    const large = batch.length === 0 ? expired[start] : undefined;
    // It fits into the step to come.
    if (large !== undefined && room < rowsAtOnce && rowsOf(large) <= rowsAtOnce) return { removed, next };
    start += Math.max(1, batch.length);
    next = expired[start - 1]?.sequence ?? next;
    if (large !== undefined) {
      const { projectNumber, sequence } = large;
      await change(questions.markStored, { projectNumber, sequences: [sequence] });
      await takeOffHours(step, questions, [large]);
      await change(questions.hideTrace, toHidden(large));
      await change(questions.removeJobs, { projectNumber: large.projectNumber, sequences: [large.sequence] });
      if (!(await eraseHidden())) return { removed, next };
    } else {
      await removeWhole(batch);
      for (const trace of batch) rows += rowsOf(trace);
      removed += batch.length;
    }
  }
  return { removed, next: end };
}

/** Some that are past their term, held by the transaction, and where to go on behind them: null when all were looked at. */
async function holdExpired(
  questions: RetentionQuestions,
  { ask, after, before, cuts, rowsMax }: StepOfTraces,
): Promise<{ readonly expired: readonly Expired[]; readonly end: number | null }> {
  const traces = await ask(questions.listTracesAfter, { after, before, limit: TRACES_AT_ONCE });
  const end = traces.length < TRACES_AT_ONCE ? null : (traces.at(-1)?.sequence ?? null);
  const goneBeforeMs = new Map(cuts.map((cut) => [cut.storedDays, cut.goneBeforeMs]));
  const latestCutMs = Math.max(...goneBeforeMs.values());
  const old = traces.filter(({ insertedAtMs }) => insertedAtMs < latestCutMs);
  if (old.length === 0) return { expired: [], end };
  const numbers = [...new Set(old.map(({ projectNumber }) => projectNumber))];
  const terms = new Map(
    (await ask(questions.holdProjectTerms, { numbers })).map((row) => [row.number, row.storedDays]),
  );
  // Traces of a project that is not known are nobody's to remove.
  const cutOf = (number: number) => goneBeforeMs.get(terms.get(number) ?? null) ?? 0;
  const sequences = old
    .filter((trace) => terms.has(trace.projectNumber) && trace.insertedAtMs < cutOf(trace.projectNumber))
    .map(({ sequence }) => sequence);
  const expired = sequences.length === 0 ? [] : await ask(questions.holdTraces, { sequences, partsMax: rowsMax });
  return { expired, end };
}

/** As many from one on as have no more rows together than there is room for. */
function takeWhole(expired: readonly Expired[], start: number, room: number): readonly Expired[] {
  let rows = 0;
  let end = start;
  for (const trace of expired.slice(start)) {
    rows += rowsOf(trace);
    if (rows > room) break;
    end += 1;
  }
  return expired.slice(start, end);
}

function rowsOf({ parts }: Expired): number {
  return parts + 1;
}

/** How a trace goes out of reach: another may then be called as it was. */
export function toHidden(trace: Trace) {
  return { ...trace, hiddenProjectNumber: -trace.projectNumber, hiddenTraceId: hiddenId(trace.sequence) };
}

function hiddenId(sequence: number): string {
  return String(sequence);
}
