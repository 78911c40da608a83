import type { Store } from '../../src/domain/store.ts';
import { makeTrace, type TraceOwner, type TracePlan } from './traces.ts';

const BATCH_TRACES = 250;
const BATCHES_UNDER_WAY = 3;

/** Stores and indexes the traces of a plan through the product's store. Calls `tell` with the progress. */
export async function fillTraces(
  store: Store,
  { plan, owner, report }: { plan: TracePlan; owner: TraceOwner; report: (what: string) => void },
): Promise<void> {
  let next = 0;
  async function send(): Promise<void> {
    while (next < plan.traces) {
      const first = next;
      next = Math.min(plan.traces, next + BATCH_TRACES);
      const appends = Array.from({ length: next - first }, (_, each) => makeTrace(plan, owner, first + each));
      await Promise.all(appends.map((append) => store.traces.append(append)));
      if (first % 100_000 === 0) report(`${first} traces stored`);
    }
  }
  await Promise.all(Array.from({ length: BATCHES_UNDER_WAY }, send));
  for (const { name, step } of store.upkeep) {
    report(name);
    while ((await step()) !== 'done');
  }
}
