/**
 * Removes traces that are past their term, with everything that belongs to them. A trace too large for one step is
 * hidden first: under the negative number of its project no query finds it. Later steps remove its rows, whatever term
 * its project chooses meanwhile.
 */

import type { TraceCut } from '../../domain/traces/telemetry-port.ts';
import { subtractFromHours } from '../analytics/hour-changes.ts';
import type { RetentionQueries, StepBudget } from './parts.ts';

type Trace = { readonly projectNumber: number; readonly traceId: string; readonly sequence: number };

/** The weight of its spans and evaluations, in rows; more than a step may remove counts as that many. */
type Expired = Trace & { readonly parts: number };

type StepOfTraces = StepBudget & {
  /** The last trace examined so far, in the order in which they were received. */
  readonly after: number;
  /** Traces from this sequence on were received after every cut. */
  readonly before: number;
  readonly cuts: readonly TraceCut[];
};

// Of one step. Examining a trace costs a fraction of removing a row.
const EXAMINED_MAX = 2000;
// Traces are listed in portions, of at least so many: what a step has no time for is not read.
const TRACES_AT_ONCE = 200;

/** `next` is where the next step begins; null at the end. */
export async function removeExpiredTraces(
  queries: RetentionQueries,
  step: StepOfTraces,
): Promise<{ readonly removed: number; readonly next: number | null }> {
  const { runQuery, change, after, cuts, rowsMax, rowsAtOnce, heavyRowsAtOnce, isOver } = step;
  let next = after;
  let rows = 0;
  let removed = 0;
  // Every step makes progress, however little time there is.
  const isSpent = () => rows > 0 && (rows >= rowsMax || isOver());

  /** False when the step ended before everything was removed. */
  async function eraseHidden(): Promise<boolean> {
    while (!isSpent()) {
      const [hidden] = await runQuery(queries.findHiddenTrace, {});
      if (hidden === undefined) return true;
      const { projectNumber, sequence } = hidden;
      const wanted = Math.min(heavyRowsAtOnce, rowsMax - rows);
      const trace = { projectNumber: -projectNumber, traceSequence: sequence };
      let parts = await change(queries.deleteSpanBatch, { ...trace, limit: wanted });
      if (parts < wanted) {
        parts += await change(queries.deleteUsageNodeBatch, { ...trace, limit: wanted - parts });
      }
      if (parts < wanted) {
        parts += await change(queries.deleteEvaluationBatch, { ...trace, limit: wanted - parts });
      }
      rows += parts;
      if (parts === wanted) continue;
      await change(queries.removeTexts, { projectNumber: -projectNumber, sequences: [sequence] });
      await change(queries.removeTraces, { projectNumber, traceIds: [hiddenId(sequence)] });
      rows += 1;
      removed += 1;
    }
    return false;
  }

  async function removeWhole(batch: readonly Trace[]): Promise<void> {
    await subtractFromHours(step, queries, batch);
    for (const [projectNumber, traces] of Map.groupBy(batch, (trace) => trace.projectNumber)) {
      const sequences = traces.map(({ sequence }) => sequence);
      const traceIds = traces.map(({ traceId }) => traceId);
      // In this order; a database at the end of a network gets them all before it has answered the first.
      await Promise.all([
        change(queries.markStored, { projectNumber, sequences }),
        change(queries.removeSpans, { projectNumber, sequences }),
        change(queries.removeUsageNodes, { projectNumber, sequences }),
        change(queries.removeTexts, { projectNumber, sequences }),
        change(queries.removeEvaluations, { projectNumber, sequences }),
        change(queries.removeJobs, { projectNumber, sequences }),
        dropBesides(step, queries, { projectNumber, traceIds }),
        change(queries.removeTraces, { projectNumber, traceIds }),
      ]);
    }
  }

  /** False when the step ended before all of these were removed. */
  async function remove(locked: readonly Expired[]): Promise<boolean> {
    for (let start = 0; start < locked.length; ) {
      if (isSpent()) return false;
      const room = Math.min(rowsAtOnce, rowsMax - rows);
      const batch = pickFitting(locked, start, room);
      const large = batch.length === 0 ? locked[start] : undefined;
      // It fits into the next step.
      if (large !== undefined && room < rowsAtOnce && rowsOf(large) <= rowsAtOnce) return false;
      start += Math.max(1, batch.length);
      next = locked[start - 1]?.sequence ?? next;
      if (large !== undefined) {
        await hide(large);
        if (!(await eraseHidden())) return false;
      } else {
        await removeWhole(batch);
        for (const trace of batch) rows += rowsOf(trace);
        removed += batch.length;
      }
    }
    return true;
  }

  /** False when the step ended before all of these were removed. */
  async function removeLocked(expired: readonly number[]): Promise<boolean> {
    for (let start = 0; start < expired.length; start += rowsAtOnce) {
      if (isSpent()) return false;
      const sequences = expired.slice(start, start + rowsAtOnce);
      // Locked in portions, too, with the weight of their rows.
      const locked = await runQuery(queries.lockTraces, { sequences, partsMax: rowsMax });
      if (!(await remove(locked))) return false;
      next = sequences.at(-1) ?? next;
    }
    return true;
  }

  async function hide(large: Trace): Promise<void> {
    const { projectNumber, sequence } = large;
    await change(queries.markStored, { projectNumber, sequences: [sequence] });
    await subtractFromHours(step, queries, [large]);
    await change(queries.hideTrace, toHidden(large));
    await change(queries.removeJobs, { projectNumber, sequences: [sequence] });
    await dropBesides(step, queries, { projectNumber, traceIds: [large.traceId] });
  }

  // Hidden traces come first.
  if (!(await eraseHidden())) return { removed, next };
  if (cuts.length === 0) return { removed, next: null };
  const limit = Math.max(TRACES_AT_ONCE, rowsAtOnce);
  for (let examined = 0; examined < EXAMINED_MAX && !isSpent(); examined += limit) {
    const { expired, end } = await listExpired(queries, { ...step, after: next }, limit);
    if (!(await removeLocked(expired))) return { removed, next };
    if (end === null) return { removed, next: null };
    next = end;
  }
  return { removed, next };
}

/**
 * The next traces that are past their term, and locks the terms. `end` is where the next step continues; null when all were
 * examined.
 */
async function listExpired(
  queries: RetentionQueries,
  { runQuery, after, before, cuts }: StepOfTraces,
  limit: number,
): Promise<{ readonly expired: readonly number[]; readonly end: number | null }> {
  const traces = await runQuery(queries.listTracesAfter, { after, before, limit });
  const end = traces.length < limit ? null : (traces.at(-1)?.sequence ?? null);
  const expiredBeforeMs = new Map(cuts.map((cut) => [cut.storedDays, cut.expiredBeforeMs]));
  const latestCutMs = Math.max(...expiredBeforeMs.values());
  const old = traces.filter(({ insertedAtMs }) => insertedAtMs < latestCutMs);
  if (old.length === 0) return { expired: [], end };
  const numbers = [...new Set(old.map(({ projectNumber }) => projectNumber))];
  const terms = new Map(
    (await runQuery(queries.lockProjectTerms, { numbers })).map((row) => [row.number, row.storedDays]),
  );
  // Traces of an unknown project stay.
  const cutOf = (number: number) => expiredBeforeMs.get(terms.get(number) ?? null) ?? 0;
  const expired = old
    .filter((trace) => terms.has(trace.projectNumber) && trace.insertedAtMs < cutOf(trace.projectNumber))
    .map(({ sequence }) => sequence);
  return { expired, end };
}

/** As many traces from `start` on as have together no more rows than fit. */
function pickFitting(expired: readonly Expired[], start: number, room: number): readonly Expired[] {
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

/** Drops what people said about traces, and which triggers fired for them: it is kept by their ids. */
export async function dropBesides(
  { change }: Pick<StepBudget, 'change'>,
  { dropEventsOf, dropAnnotationsOf, dropItemsOf, dropFiringsOf }: RetentionQueries,
  traces: { readonly projectNumber: number; readonly traceIds: readonly string[] },
): Promise<void> {
  const drops = [dropEventsOf, dropAnnotationsOf, dropItemsOf, dropFiringsOf];
  await Promise.all(drops.map((drop) => change(drop, traces)));
}

/** Hides a trace, whose id another trace may then use. */
export function toHidden(trace: Trace) {
  return { ...trace, hiddenProjectNumber: -trace.projectNumber, hiddenTraceId: hiddenId(trace.sequence) };
}

function hiddenId(sequence: number): string {
  return String(sequence);
}
