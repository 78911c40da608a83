import type { StoredEvent } from '../../src/domain/events/event.ts';
import type { Store } from '../../src/domain/store.ts';
import { countSince, createdAtMs, type FillPlan } from './plan.ts';

type Organization = { readonly id: string; readonly number: number };

const DAY_MS = 86_400_000;
const PAGE = 200;

/** Reads a filled log through the product's store. Throws when it differs from the plan. */
export async function checkFill(store: Store, organization: Organization, plan: FillPlan): Promise<void> {
  const middleMs = Math.floor((plan.fromMs + plan.toMs) / 2);
  const fromMs = Math.max(plan.fromMs, middleMs - DAY_MS / 2);
  const toMs = Math.min(plan.toMs, middleMs + DAY_MS / 2);
  const day = await walk(store, organization, { fromMs, toMs });
  expectEqual('events of one day', day.length, countSince(plan, fromMs) - countSince(plan, toMs + 1));
  expectEqual('events in their order', day.filter(isOutOfOrder).length, 0);
  for (const event of day) expectEqual('the instant in the envelope', readCreated(event), event.createdAtMs);

  const newest = await first(store, organization, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
  const oldest = await first(store, organization, { fromMs: 0, toMs: createdAtMs(plan, 1) });
  for (const event of [newest, oldest, day[0]]) {
    if (event === undefined) throw new Error('The filled log is empty.');
    const found = await store.events.find(organization, event.id, plan.fromMs);
    expectEqual('the event by its id', found?.envelope, event.envelope);
  }
}

type Range = { readonly fromMs: number; readonly toMs: number };

async function walk(store: Store, organization: Organization, range: Range): Promise<StoredEvent[]> {
  const walked: StoredEvent[] = [];
  for (;;) {
    const after = walked.at(-1) ?? null;
    const page = await store.events.list({ organization, ...range, type: null, after, limit: PAGE });
    walked.push(...page);
    if (page.length < PAGE) return walked;
  }
}

async function first(store: Store, organization: Organization, range: Range): Promise<StoredEvent | undefined> {
  const [event] = await store.events.list({ organization, ...range, type: null, after: null, limit: 1 });
  return event;
}

/** The order is newest first, then by descending id. */
function isOutOfOrder(event: StoredEvent, index: number, events: readonly StoredEvent[]): boolean {
  const before = events[index - 1];
  if (before === undefined || before.createdAtMs > event.createdAtMs) return false;
  return before.createdAtMs < event.createdAtMs || before.id <= event.id;
}

function readCreated({ envelope }: StoredEvent): number {
  const { created }: { created: string } = JSON.parse(envelope);
  return Date.parse(created);
}

function expectEqual(what: string, got: unknown, expected: unknown): void {
  if (got !== expected) throw new Error(`The fill is wrong in ${what}: ${String(got)} instead of ${String(expected)}.`);
}
