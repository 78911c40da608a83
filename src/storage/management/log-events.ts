/** Appends events to the log of an organization, in the transaction of the change that they tell of. */

import { LockMode } from '@mikro-orm/core';
import type { NewEvent } from '../../domain/events/event.ts';
import type { AlertEventType, GovernanceEventType } from '../../domain/events/event-type.ts';
import { envelope } from '../../domain/events/request-event.ts';
import { nextCreation } from '../append/batch-log.ts';
import { newHead } from '../delivery/work-rows.ts';
import { LogHead } from '../entities/events.ts';
import { Organization } from '../entities/organization.ts';
import type { EntityManager } from '../mapper.ts';
import { eventTypes } from '../rows/codes.ts';
import { kyselyOf, type LogEnd } from './units.ts';

type Appending = {
  readonly em: EntityManager;
  readonly organizationId: string;
  readonly log: LogEnd;
};

/** Comes last in its transaction, because from here on appends to the log of the organization wait. */
export async function appendEvents(
  { em, organizationId, log }: Appending,
  events: readonly NewEvent<GovernanceEventType | AlertEventType>[],
): Promise<void> {
  if (events.length === 0) return;
  const { number: organizationNumber } = await em.findOneOrFail(
    Organization,
    { id: organizationId },
    { fields: ['number'] },
  );
  const head = await lockHead(em, organizationNumber);
  const { createdAtMs, isReset } = nextCreation(head.createdAtMs, await log.nowMs(em));
  await log.prepare(em, createdAtMs);
  const created = new Date(createdAtMs).toISOString();
  const first = head.seq + 1;
  const rows = events.map(({ id, type, dataJson }, index) => ({
    organizationNumber,
    id,
    createdAtMs,
    seq: first + index,
    type: eventTypes.code(type),
    envelope: envelope({ id, type, created, dataJson }),
  }));
  const db = kyselyOf(em);
  await db
    .insertInto('GovernanceEvent')
    .values(rows.map(({ type: _type, envelope: _envelope, ...row }) => row))
    .execute();
  if (log.isEnvelopeApart) {
    const envelopes = rows.map(({ seq, envelope: text }) => ({ organizationNumber, seq, envelope: text }));
    await db.insertInto('Envelope').values(envelopes).execute();
  }
  const ofEvents = rows.map(({ envelope: text, ...row }) => (log.isEnvelopeApart ? row : { ...row, envelope: text }));
  await db.insertInto('Event').values(ofEvents).execute();
  Object.assign(head, { seq: first + rows.length - 1, createdAtMs, resets: head.resets + (isReset ? 1 : 0) });
}

/** Locks the head of the organization's log until the transaction ends. */
export async function lockHead(em: EntityManager, organizationNumber: number) {
  await em.createQueryBuilder(LogHead).insert(newHead(organizationNumber)).onConflict().ignore().execute('run');
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return await em.findOneOrFail(LogHead, { organizationNumber }, lock);
}
