/** Takes traces off the hours that are about to be removed. */

import type { Compiled, Transaction } from '../questions.ts';
import { createHourChanges, isInHours } from './hour-changes.ts';
import type { listSpans } from './questions.ts';
import type { addHour, listCounted } from './questions-hours.ts';

export type HourQuestions = {
  readonly listCounted: Compiled<typeof listCounted>;
  readonly listCountedSpans: Compiled<typeof listSpans>;
  readonly addHour: Compiled<typeof addHour>;
};

type Removed = { readonly projectNumber: number; readonly sequence: number };

/** To be called in the transaction that removes them, or puts them out of reach, before it does. */
export async function takeOffHours(
  { ask, change }: Pick<Transaction, 'ask' | 'change'>,
  questions: HourQuestions,
  traces: readonly Removed[],
): Promise<void> {
  const changes = createHourChanges();
  for (const [projectNumber, some] of Map.groupBy(traces, (trace) => trace.projectNumber)) {
    const sequences = some.map(({ sequence }) => sequence);
    const counted = (await ask(questions.listCounted, { projectNumber, sequences })).filter(isInHours);
    if (counted.length === 0) continue;
    const known = counted.map(({ sequence }) => sequence);
    const spans = await ask(questions.listCountedSpans, { projectNumber, sequences: known });
    const bySequence = Map.groupBy(spans, ({ traceSequence }) => traceSequence);
    for (const trace of counted) changes.change(trace, bySequence.get(trace.sequence) ?? [], -1);
  }
  for (const row of changes.rows()) await change(questions.addHour, row);
}
