/** Stores the traces of one request, which may be more than the queue of the store takes at once. */

import type { Project } from '../caller.ts';
import { Fault } from '../fault.ts';
import type { Losses } from './collector/losses.ts';
import type { TraceStore } from './telemetry-port.ts';
import type { TraceAppend, TraceAppended } from './trace.ts';

/** A request may name very many traces: others need not wait until all of them are stored. */
const APPENDS_AT_ONCE = 128;

/**
 * Stores the traces of one request. Throws the unavailable Fault only where none of those that were tried together could be
 * stored: sending the request again is safe then, and the only way to learn that all of it is stored.
 */
export async function appendAll(
  { append }: Pick<TraceStore, 'append'>,
  appends: readonly TraceAppend[],
): Promise<readonly TraceAppended[]> {
  const appended = new Map<TraceAppend, TraceAppended>();
  let left = appends;
  while (left.length > 0) {
    const some = left.slice(0, APPENDS_AT_ONCE);
    const settled = await Promise.allSettled(some.map(append));
    const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const isFull = failures.every((failure) => failure instanceof Fault && failure.kind === 'unavailable');
    // The queue may be full of traces of this very request: as long as some of them are stored, the others are tried again.
    // Only a round that stores none is refused, and the sender tries again.
    if (failures.length === some.length || !isFull) {
      throw failures.find((failure) => failure instanceof Fault) ?? failures[0];
    }
    const refused = some.filter((each, index) => {
      const outcome = settled[index];
      if (outcome?.status === 'fulfilled') appended.set(each, outcome.value);
      return outcome?.status !== 'fulfilled';
    });
    left = [...refused, ...left.slice(some.length)];
  }
  return appends.flatMap((each) => appended.get(each) ?? []);
}

/** Notes the spans that their traces had no room for. */
export function noteExcess(
  { losses }: { readonly losses: Losses },
  { project, nowMs }: { readonly project: Project; readonly nowMs: number },
  appended: readonly TraceAppended[],
): void {
  const refusedSpans = appended.reduce((sum, { refusedSpans: of = [] }) => sum + of.length, 0);
  losses.note({ projectId: project.id, nowMs, refusedSpans, dropped: [] });
}
