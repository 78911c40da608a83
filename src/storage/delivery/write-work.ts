/** Writes what has become of work, at the end of its transaction. */

import type { Verdict } from '../../domain/delivery.ts';
import type { WorkDelivery, WorkEndpoint } from '../../domain/delivery-rows.ts';
import { endOfTest } from '../../domain/delivery-test.ts';
import type { WorkSet } from '../../domain/delivery-work-set.ts';
import type { Subscription } from '../../domain/endpoint.ts';
import { NO_EVENTS } from '../../domain/event-type.ts';
import { changeSubscriptions, dropPassed } from '../../domain/subscriptions.ts';
import type { Transaction } from '../questions.ts';
import type { WorkQuestions } from './work.ts';

export async function writeWork(
  transaction: Transaction,
  questions: WorkQuestions,
  changes: ReturnType<WorkSet['changes']>,
): Promise<void> {
  const { changeRows } = transaction;
  const { endpoints, disabled } = changes;
  changeRows(questions.insertDeliveries, changes.newDeliveries);
  changeRows(questions.updateDeliveries, changes.deliveries);
  changeRows(questions.insertAttempts, changes.newAttempts);
  changeRows(questions.endAttempts, changes.endedAttempts);
  changeRows(questions.updateReplays, changes.replays);
  changeRows(questions.addFigures, changes.figures);
  changeRows(
    questions.addHours,
    changes.hours.toSorted((one, other) => one.organizationNumber - other.organizationNumber),
  );
  const heads = disabled.length === 0 ? NO_HEADS : await disableEndpoints(transaction, questions, disabled);
  changeRows(
    questions.updateStates,
    endpoints.map((endpoint) => ({ ...endpoint, subscriptionsJson: subscriptionsOf(endpoint, heads) })),
  );
}

/** Where the logs end of endpoints that are disabled. */
type Heads = ReadonlyMap<number, number>;

const NO_HEADS: Heads = new Map();

/** Where their logs end stays so until the commit. */
async function disableEndpoints(
  { ask, askEach, change, changeRows }: Transaction,
  questions: WorkQuestions,
  disabled: readonly WorkEndpoint[],
): Promise<Heads> {
  const organizations = new Set(disabled.map(({ organizationNumber }) => organizationNumber));
  const inOrder = [...organizations].toSorted((one, other) => one - other);
  const counted = change(questions.countChange, {});
  changeRows(
    questions.insertHeads,
    inOrder.map((organizationNumber) => ({ organizationNumber })),
  );
  const [, [{ change: changeNumber } = { change: 0 }], heads] = await Promise.all([
    counted,
    ask(questions.findChange, {}),
    askEach(questions.holdHeads, inOrder),
  ]);
  changeRows(
    questions.disableEndpoints,
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
export function endTests({ changeRows }: Transaction, questions: WorkQuestions, { tests, ...over }: TestsOver): void {
  const ended = tests.map((test) => endOfTest(test, over));
  changeRows(
    questions.updateDeliveries,
    ended.map(({ delivery }) => delivery),
  );
  changeRows(
    questions.endAttempts,
    ended.map(({ attempt }) => attempt),
  );
}
