/**
 * Work about deliveries as one transaction of two round trips: one takes the endpoints and reads what the work is about,
 * the other writes what has become of it. A third is needed only when an endpoint is disabled by what happened.
 */

import { NO_EVENTS } from '../../domain/event-type.ts';
import type { DeliveryStore } from '../../domain/webhook-store.ts';
import { applyWork } from '../delivery/apply-work.ts';
import { changeSubscriptions, dropPassed, type WorkChanges, type WorkEndpoint } from '../delivery/tables.ts';
import { createWorkSet } from '../delivery/work-set.ts';
import { writeSubscriptions } from '../rows/webhook-texts.ts';
import type { Lane, Statement } from './connection.ts';
import { namesIn, readTables } from './delivery-tables.ts';
import { DISABLED, postMany, STATES, type StateRow, writeWork } from './delivery-writes.ts';
import { inTransaction, type Transaction } from './transaction.ts';

export type ApplyDeps = {
  readonly lane: Lane;
  /** Called after a commit that disabled endpoints. */
  readonly notify: () => void;
};

export function createApply({ lane, notify }: ApplyDeps): DeliveryStore['apply'] {
  return async (work, at) => {
    if (work.length === 0) return [];
    const { outcomes, hasDisabled } = await inTransaction(lane, async (transaction) => {
      const { tables, endpoints } = await readTables(transaction, namesIn(work, at), 'all');
      const set = createWorkSet(tables);
      const done = applyWork(set, work, at);
      const changes = set.changes();
      await writeChanges(transaction, changes, endpoints);
      return { outcomes: done, hasDisabled: changes.disabled.length > 0 };
    });
    if (hasDisabled) notify();
    return outcomes;
  };
}

/** The last thing in a transaction. `endpoints`: as they were before. */
export async function writeChanges(
  transaction: Transaction,
  { states, disabled, ...changes }: WorkChanges,
  endpoints: ReadonlyMap<number, WorkEndpoint>,
): Promise<void> {
  writeWork(transaction, changes);
  const closed = disabled.length === 0 ? NOBODY : await closeSubscriptions(transaction, disabled);
  postMany(
    transaction,
    STATES,
    states.map((endpoint) => toStateRow(closed.get(endpoint.number) ?? endpoint, endpoints)),
  );
}

const NOBODY: ReadonlyMap<number, WorkEndpoint> = new Map();

function toStateRow(endpoint: WorkEndpoint, endpoints: ReadonlyMap<number, WorkEndpoint>): StateRow {
  const { number, subscriptions } = endpoint;
  const isSame = endpoints.get(number)?.subscriptions === subscriptions;
  return { ...endpoint, subscriptionsText: isSame ? null : writeSubscriptions(subscriptions) };
}

/**
 * Disables endpoints, and answers them as they get nothing any more from behind the heads of their logs on. The heads
 * stay where they are until the commit.
 */
async function closeSubscriptions(
  transaction: Transaction,
  disabled: readonly WorkEndpoint[],
): Promise<ReadonlyMap<number, WorkEndpoint>> {
  const organizations = [...new Set(disabled.map(({ organizationNumber }) => organizationNumber))];
  const [[change], , heads] = await Promise.all([
    transaction.ask<{ number: number }>(NEXT_CHANGE, []),
    transaction.ask(MAKE_HEADS, [organizations]),
    transaction.ask<{ organizationNumber: number; seq: number }>(HOLD_HEADS, [organizations]),
  ]);
  if (change === undefined) throw new Error('the database has lost count of changes of endpoints');
  const seqs = new Map(heads.map((head) => [head.organizationNumber, head.seq]));
  postMany(
    transaction,
    DISABLED,
    disabled.map((endpoint) => ({ endpoint, changeNumber: change.number })),
  );
  return new Map(
    disabled.map((endpoint) => {
      const { number, organizationNumber, position } = endpoint;
      const open = dropPassed(endpoint.subscriptions, position);
      const subscriptions = changeSubscriptions(open, seqs.get(organizationNumber) ?? 0, NO_EVENTS);
      return [number, { ...endpoint, subscriptions }];
    }),
  );
}

const NEXT_CHANGE: Statement = {
  name: 'work-change',
  text: 'UPDATE webhook_changes SET number = number + 1 RETURNING number',
};

// An organization without events has no head that could be held.
const MAKE_HEADS: Statement = {
  name: 'work-make-heads',
  text: `INSERT INTO log_heads (organization_number, seq, created_at, last_key_index)
    SELECT organization_number, 0, 0, 0 FROM unnest($1::integer[]) AS given (organization_number)
    ORDER BY organization_number ON CONFLICT DO NOTHING`,
};

const HOLD_HEADS: Statement = {
  name: 'work-hold-heads',
  text: `SELECT organization_number AS "organizationNumber", seq FROM log_heads
    WHERE organization_number = ANY ($1::integer[]) ORDER BY organization_number FOR UPDATE`,
};
