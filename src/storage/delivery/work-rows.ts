/** Reads what work is about at the beginning of its transaction, and writes what has become of it at the end. */

import type { Verdict } from '../../domain/delivery.ts';
import type { WorkContent, WorkDelivery, WorkEndpoint } from '../../domain/delivery-rows.ts';
import { endOfTest } from '../../domain/delivery-test.ts';
import { hourOf } from '../../domain/delivery-work.ts';
import type { LoadedRows, WorkSet } from '../../domain/delivery-work-set.ts';
import type { Subscription } from '../../domain/endpoint.ts';
import { NO_EVENTS } from '../../domain/event-type.ts';
import { changeSubscriptions, dropPassed } from '../../domain/subscriptions.ts';
import type { Work, WorkInstant } from '../../domain/webhook-store.ts';
import type { Changing } from '../questions.ts';

/** What a transaction reads and holds. */
export type Names = {
  readonly endpoints: readonly number[];
  readonly deliveries: readonly number[];
  /** Of the deliveries, those whose content is needed as well. */
  readonly taken: readonly number[];
  /** Beside those that the deliveries are of. */
  readonly replays: readonly number[];
  /** So many deliveries may be made. */
  readonly batches: number;
  /** Attempts in this hour are counted; null: nowhere. */
  readonly hour: number | null;
};

/**
 * It holds the endpoints: nobody else changes anything about them until the transaction ends. `holdFreeStates`: those
 * that others have at the moment are left out, as if they were not there.
 */
export async function loadWork(
  { isAlone, ask, askEach, changeRows, questions }: Changing,
  names: Names & { readonly hold: 'holdStates' | 'holdFreeStates' },
): Promise<LoadedRows> {
  const [held, known, deliveries, contents, blocks] = await Promise.all([
    isAlone ? null : askEach(questions.endpointsWork[names.hold], names.endpoints),
    askEach(questions.endpointsWork.listWorkEndpoints, names.endpoints),
    askEach(questions.endpointsWork.listWorkDeliveries, names.deliveries),
    askEach(questions.endpointsWork.listContents, names.taken),
    names.batches === 0 ? [] : ask(questions.endpointsWork.drawDeliveryNumbers, { count: names.batches }),
  ]);
  const free = held === null ? null : new Set(held.map(({ number }) => number));
  const endpoints = free === null ? known : known.filter(({ number }) => free.has(number));
  const replays = new Set([...names.replays, ...deliveries.flatMap(({ replayNumber }) => replayNumber ?? [])]);
  return {
    endpoints,
    deliveries,
    replays: await askEach(questions.endpointsWork.listWorkReplays, [...replays]),
    contents: new Map(contents.map((row) => [row.number, toContent(row)])),
    attempts: names.hour === null ? new Map() : await loadAttempts(names.hour),
    numbers: blocks.flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index)),
  };

  async function loadAttempts(hour: number): Promise<ReadonlyMap<number, number>> {
    const organizations = new Set(endpoints.map(({ organizationNumber }) => organizationNumber));
    const inOrder = [...organizations].toSorted((one, other) => one - other);
    // A row that is not there yet can be held in no other way.
    changeRows(
      questions.endpointsChanges.addHours,
      inOrder.map((organizationNumber) => ({ organizationNumber, hour, attempts: 0 })),
    );
    const rows = await ask(questions.endpointsWork.listHours, { numbers: inOrder, hour });
    return new Map(rows.map(({ organizationNumber, attempts }) => [organizationNumber, attempts]));
  }
}

type ContentRow = {
  readonly seqsJson: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly kept: number | null;
};

function toContent({ seqsJson, firstMs, lastMs, kept }: ContentRow): WorkContent {
  const seqs = JSON.parse(seqsJson) as number[];
  return { seqs, created: { firstMs, lastMs }, isKept: kept === seqs.length };
}

/** What pieces of work are about. */
export function namesIn(work: readonly Work[], at: WorkInstant): Names {
  const of = <Kind extends Work['kind']>(...kinds: readonly Kind[]) =>
    work.filter((piece): piece is Extract<Work, { kind: Kind }> => kinds.some((kind) => kind === piece.kind));
  const cuts = of('cut');
  return {
    endpoints: [...new Set(work.map(({ endpointNumber }) => endpointNumber))],
    deliveries: [...new Set(of('take', 'finish', 'lose').map(({ number }) => number))],
    taken: [...new Set(of('take').map(({ number }) => number))],
    replays: cuts.flatMap(({ lane }) => (lane.kind === 'replay' ? [lane.number] : [])),
    batches: cuts.reduce((sum, { batches }) => sum + batches.length, 0),
    hour: at.attemptsPerHourMax === null ? null : hourOf(at),
  };
}

export async function writeWork(tx: Changing, changes: ReturnType<WorkSet['changes']>): Promise<void> {
  const { changeRows, questions } = tx;
  const { endpoints, disabled } = changes;
  changeRows(questions.endpointsChanges.insertDeliveries, changes.newDeliveries);
  changeRows(questions.endpointsChanges.updateDeliveries, changes.deliveries);
  changeRows(questions.endpointsChanges.insertAttempts, changes.newAttempts);
  changeRows(questions.endpointsChanges.endAttempts, changes.endedAttempts);
  changeRows(questions.endpointsChanges.updateReplays, changes.replays);
  changeRows(questions.endpointsChanges.addFigures, changes.figures);
  changeRows(
    questions.endpointsChanges.addHours,
    changes.hours.toSorted((one, other) => one.organizationNumber - other.organizationNumber),
  );
  const heads = disabled.length === 0 ? NO_HEADS : await disableEndpoints(tx, disabled);
  changeRows(
    questions.endpointsChanges.updateStates,
    endpoints.map((endpoint) => ({ ...endpoint, subscriptionsJson: subscriptionsOf(endpoint, heads) })),
  );
}

/** Where the logs end of endpoints that are disabled. */
type Heads = ReadonlyMap<number, number>;

const NO_HEADS: Heads = new Map();

/** Where their logs end stays so until the commit. */
async function disableEndpoints(
  { ask, askEach, change, changeRows, questions }: Changing,
  disabled: readonly WorkEndpoint[],
): Promise<Heads> {
  const organizations = new Set(disabled.map(({ organizationNumber }) => organizationNumber));
  const inOrder = [...organizations].toSorted((one, other) => one - other);
  const counted = change(questions.endpointsChanges.countChange, {});
  changeRows(
    questions.endpointsChanges.insertHeads,
    inOrder.map((organizationNumber) => ({ organizationNumber })),
  );
  const [, [{ change: changeNumber } = { change: 0 }], heads] = await Promise.all([
    counted,
    ask(questions.endpoints.findChange, {}),
    askEach(questions.endpointsChanges.holdHeads, inOrder),
  ]);
  changeRows(
    questions.endpointsChanges.disableEndpoints,
    disabled.map((endpoint) => ({ ...endpoint, changeNumber })),
  );
  const seqs = new Map(heads.map(({ organizationNumber, seq }) => [organizationNumber, seq]));
  return new Map(disabled.map(({ number, organizationNumber }) => [number, seqs.get(organizationNumber) ?? 0]));
}

/** Those that still matter. Whoever is disabled gets nothing any more from behind the head of the log on. */
function subscriptionsOf({ number, subscriptionsJson, position }: WorkEndpoint, heads: Heads): string {
  const subscriptions = JSON.parse(subscriptionsJson) as Subscription[];
  const open = dropPassed(subscriptions, position);
  const headSeq = heads.get(number);
  if (headSeq !== undefined) return JSON.stringify(changeSubscriptions(open, headSeq, NO_EVENTS));
  return open === subscriptions ? subscriptionsJson : JSON.stringify(open);
}

type TestsOver = {
  readonly tests: readonly WorkDelivery[];
  readonly verdict: Verdict | null;
  readonly nowMs: number;
};

/** Ends tests that have not ended. Null verdict: nothing was heard of the sender. */
export function endTests({ changeRows, questions }: Changing, { tests, ...over }: TestsOver): void {
  const ended = tests.map((test) => endOfTest(test, over));
  changeRows(
    questions.endpointsChanges.updateDeliveries,
    ended.map(({ delivery }) => delivery),
  );
  changeRows(
    questions.endpointsChanges.endAttempts,
    ended.map(({ attempt }) => attempt),
  );
}
