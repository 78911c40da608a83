/** Which triggers have fired for which traces, each pair once, with what there is to tell. */

import { LockMode } from '@mikro-orm/core';
import { isNotification } from '../../domain/triggers/trigger.ts';
import {
  type Fired,
  type Firing,
  NOTIFICATIONS_MAX,
  stateEvent,
  TRACE_IDS_MAX,
} from '../../domain/triggers/trigger-store.ts';
import { TriggerEventRow, TriggerFiringRow } from '../entities/triggers.ts';
import type { EntityManager } from '../mapper.ts';
import { countNotifications, type Locked, lockTrigger, pause, UNLEASED } from './trigger-states.ts';
import { kyselyOf } from './units.ts';

/** See TriggerStore.fire. */
export async function fire(em: EntityManager, { projectId, firings, nowMs, pauseIds }: Fired): Promise<number> {
  let added = 0;
  const byTrigger = Map.groupBy(firings, ({ triggerId }) => triggerId);
  // In one order, so that two transactions never wait for each other.
  for (const [index, id] of [...byTrigger.keys()].sort().entries()) {
    const locked = await lockTrigger(em, { projectId, id });
    if (locked === null || !locked.row.active) continue;
    const pauseId = pauseIds[index] ?? '';
    added += await fireOne(em, locked, { firings: byTrigger.get(id) ?? [], nowMs, pauseId });
  }
  return added;
}

type OfOne = Pick<Fired, 'firings' | 'nowMs'> & { readonly pauseId: string };

/** Whoever fires the trigger has locked it, so that a pair that is not there yet is not there at the end either. */
async function fireOne(em: EntityManager, locked: Locked, { firings, nowMs, pauseId }: OfOne): Promise<number> {
  const { projectId, id: triggerId, action } = locked.row;
  const traces = firings.map(({ traceId }) => traceId);
  const known = await em.find(
    TriggerFiringRow,
    { projectId, triggerId, trace: { $in: traces } },
    { fields: ['trace'] },
  );
  const isKnown = new Set(known.map(({ trace }) => trace));
  const told = isNotification(action) ? await countNotifications(em, locked, nowMs) : 0;
  let room = isNotification(action) ? NOTIFICATIONS_MAX - told : Number.POSITIVE_INFINITY;
  let added = 0;
  for (const firing of firings) {
    const { traceId: trace, eventId } = firing;
    if (isKnown.has(trace)) continue;
    const digest = firing.isDigest ? await findOpenDigest(em, projectId, eventId) : null;
    // One more trace of a digest that is open is not a notification of its own.
    if (digest?.row == null && room <= 0) {
      await pause(em, locked, { nowMs, id: pauseId });
      break;
    }
    isKnown.add(trace);
    em.create(TriggerFiringRow, { projectId, triggerId, trace, eventId, firedAtMs: nowMs });
    added += 1;
    locked.state.notifiedAtMs = nowMs;
    if (digest?.row != null) addToDigest(digest.row, trace);
    else {
      room -= 1;
      addEntry(em, { projectId, firing: { ...firing, eventId: digest?.id ?? eventId }, nowMs });
    }
  }
  await em.flush();
  return added;
}

/** The digest of traces that come after the one of their time was sent. */
const LATE = 'l';

type Digest = { readonly id: string; readonly row: DigestRow | null };
type DigestRow = { traceCount: number; traceIds: readonly string[] };

/** A digest takes traces until its first attempt; then the next one does. */
async function findOpenDigest(em: EntityManager, projectId: string, id: string): Promise<Digest> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const row = await em.findOne(TriggerEventRow, { projectId, id }, lock);
  return row !== null && row.attempts > 0 ? await findOpenDigest(em, projectId, `${id}${LATE}`) : { id, row };
}

function addToDigest(digest: DigestRow, traceId: string): void {
  digest.traceCount += 1;
  if (digest.traceIds.length < TRACE_IDS_MAX) digest.traceIds = [...digest.traceIds, traceId];
}

type OneFiring = { readonly projectId: string; readonly firing: Firing; readonly nowMs: number };

function addEntry(em: EntityManager, { projectId, firing, nowMs }: OneFiring): void {
  const { triggerId, traceId, eventId: id, dueAtMs } = firing;
  const about = { projectId, triggerId, id, kind: 'fired' } as const;
  const event = stateEvent(about, WATCHING, { nowMs, notifies: true });
  em.create(TriggerEventRow, { ...event, traceCount: 1, traceIds: [traceId], dueAtMs, ...UNLEASED });
}

const WATCHING = { status: 'OK', value: null, group: null, reason: null } as const;

/** Removes some pairs of triggers that are deleted. Returns how many. */
export async function removeOrphans(em: EntityManager, limit: number): Promise<number> {
  const db = kyselyOf(em);
  const orphans = db
    // A cross join keeps the triggers, of which there are few, outermost.
    .selectFrom('Trigger as trigger')
    .crossJoin('TriggerFiring as firing')
    .where('trigger.deletedAtMs', 'is not', null)
    .whereRef('firing.projectId', '=', 'trigger.projectId')
    .whereRef('firing.triggerId', '=', 'trigger.id')
    .select(['firing.projectId', 'firing.triggerId', 'firing.trace'])
    .limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom('TriggerFiring')
    .where(({ eb, refTuple }) =>
      eb(refTuple('projectId', 'triggerId', 'trace'), 'in', orphans.$asTuple('projectId', 'triggerId', 'trace')),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
