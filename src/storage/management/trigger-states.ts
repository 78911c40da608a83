/** The state of triggers, and what they tell, in transactions that lock them. */

import { type InferEntity, LockMode } from '@mikro-orm/core';
import { isNotification, type Trigger, type TriggerState } from '../../domain/triggers/trigger.ts';
import {
  type Evaluated,
  type Fired,
  type Firing,
  HOUR_MS,
  NOTIFICATIONS_MAX,
  type NotificationKey,
  pausedState,
  type Recorded,
  stateEvent,
  TRACE_IDS_MAX,
} from '../../domain/triggers/trigger-store.ts';
import { TriggerEventRow, TriggerFiringRow, TriggerRow, TriggerStateRow } from '../entities/triggers.ts';
import type { EntityManager } from '../mapper.ts';
import { countChange } from './monitors.ts';
import { type Plain, plain } from './units.ts';

type TriggerRecord = Plain<InferEntity<typeof TriggerRow>, 'deletedAtMs' | 'runsSince'>;
type StateRecord = InferEntity<typeof TriggerStateRow>;

/** No process has claimed it. */
export const UNLEASED = { leasedUntilMs: 0, fence: 0 };

/** What a notification becomes that was taken. */
export function sentAt(nowMs: number) {
  return { delivery: 'sent' as const, error: null, sentAtMs: nowMs, dueAtMs: null, ...UNLEASED };
}

/** Locks a notification until the transaction ends; null when another process has claimed it, or it has ended. */
export async function lockNotification(em: EntityManager, { projectId, id, fence }: NotificationKey) {
  const claimed = { projectId, id, fence, delivery: 'pending' as const };
  return await em.findOne(TriggerEventRow, claimed, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Whether it is part of what runs on new traces. */
export function isRunning({ active, kind }: Pick<Trigger, 'active' | 'kind'>): boolean {
  return active && kind === 'TRACE';
}

export function toTrigger({ runsSince: _, ...trigger }: TriggerRecord & { readonly runsSince: number }): Trigger {
  return trigger;
}

export function toState(row: StateRecord): TriggerState {
  const { projectId: _, triggerId: __, leasedUntilMs: ___, fence: ____, ...state } = plain(row);
  return state;
}

type Named = { readonly projectId: string; readonly id: string };

/** Locks a trigger and its state until the transaction ends; null for one that is deleted. */
export async function lockTrigger(em: EntityManager, { projectId, id }: Named) {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const row = await em.findOne(TriggerRow, { projectId, id, deletedAtMs: null }, lock);
  const state = row && (await em.findOne(TriggerStateRow, { projectId, triggerId: id }, lock));
  return row === null || state === null ? null : { row, state };
}

type Locked = NonNullable<Awaited<ReturnType<typeof lockTrigger>>>;

/** In one order, so that two transactions never wait for each other. */
export async function recordAll(em: EntityManager, all: readonly Evaluated[]): Promise<readonly Recorded[]> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const ids = all.map(({ triggerId }) => triggerId);
  const projectIds = [...new Set(all.map(({ projectId }) => projectId))];
  const ofAll = { projectId: { $in: projectIds } };
  const byTrigger = { ...lock, orderBy: [{ projectId: 'asc' as const }, { id: 'asc' as const }] };
  const rows = await em.find(TriggerRow, { ...ofAll, id: { $in: ids }, deletedAtMs: null }, byTrigger);
  const byState = { ...lock, orderBy: [{ projectId: 'asc' as const }, { triggerId: 'asc' as const }] };
  const states = await em.find(TriggerStateRow, { ...ofAll, triggerId: { $in: ids } }, byState);
  const stateOf = new Map(states.map((state) => [state.triggerId, state]));
  const lockedOf = new Map(rows.map((row) => [row.id, { row, state: stateOf.get(row.id) }]));
  const recorded: Recorded[] = [];
  for (const evaluated of all) {
    const { row, state } = lockedOf.get(evaluated.triggerId) ?? {};
    recorded.push(row === undefined || state === undefined ? 'stale' : await record(em, { row, state }, evaluated));
  }
  return recorded;
}

async function record(em: EntityManager, locked: Locked, evaluated: Evaluated): Promise<Recorded> {
  const { projectId, fence, triggerUpdatedAtMs, next, event, nowMs } = evaluated;
  const { row, state } = locked;
  const isSame = row.projectId === projectId && state.fence === fence && row.updatedAtMs === triggerUpdatedAtMs;
  if (!isSame) return 'stale';
  if (event?.delivery === 'pending' && (await isNoisy(em, locked, nowMs))) {
    await pause(em, locked, { nowMs, id: event.id });
    return 'paused';
  }
  Object.assign(state, next, UNLEASED);
  if (event !== null) em.create(TriggerEventRow, { ...event, ...UNLEASED });
  return 'recorded';
}

/** Whether a trigger has sent as many notifications as one may within an hour. */
async function isNoisy(em: EntityManager, { row, state }: Locked, nowMs: number): Promise<boolean> {
  const { projectId, id: triggerId, action } = row;
  if (!isNotification(action)) return false;
  const sinceMs = Math.max(nowMs - HOUR_MS, state.resumedAtMs);
  const recent = { projectId, triggerId, createdAtMs: { $gte: sinceMs }, delivery: { $ne: 'none' as const } };
  return (await em.count(TriggerEventRow, recent)) >= NOTIFICATIONS_MAX;
}

async function pause(
  em: EntityManager,
  { row, state }: Locked,
  { nowMs, id }: { readonly nowMs: number; readonly id: string },
): Promise<void> {
  const { projectId, id: triggerId } = row;
  if (isRunning(row)) await countChange(em, projectId, nowMs);
  Object.assign(row, { active: false, updatedAtMs: Math.max(nowMs, row.updatedAtMs + 1) });
  const next = pausedState(toState(state), nowMs);
  Object.assign(state, next, UNLEASED);
  const of = { projectId, triggerId, id, kind: 'changed' } as const;
  em.create(TriggerEventRow, { ...stateEvent(of, next, { nowMs, notifies: false }), ...UNLEASED });
}

/** Of several pairs of a trigger, which is locked once, each that is new gets its entry or a place in a digest. */
export async function fire(em: EntityManager, { projectId, firings, nowMs, pauseIds }: Fired): Promise<number> {
  let added = 0;
  // In one order, so that two transactions never wait for each other.
  const ids = [...new Set(firings.map(({ triggerId }) => triggerId))].sort();
  for (const [index, id] of ids.entries()) {
    const locked = await lockTrigger(em, { projectId, id });
    for (const firing of firings.filter(({ triggerId }) => triggerId === id)) {
      if (locked === null || !locked.row.active) break;
      if (!(await isNew(em, { projectId, firing, nowMs }))) continue;
      if (await isNoisyWith(em, locked, { firing, nowMs })) {
        await em.nativeDelete(TriggerFiringRow, { projectId, triggerId: id, traceId: firing.traceId });
        await pause(em, locked, { nowMs, id: pauseIds[index] ?? '' });
        break;
      }
      added += 1;
      locked.state.notifiedAtMs = nowMs;
      await addEntry(em, { projectId, firing, nowMs });
      await em.flush();
    }
  }
  return added;
}

type OneFiring = { readonly projectId: string; readonly firing: Firing; readonly nowMs: number };

async function isNew(em: EntityManager, { projectId, firing, nowMs }: OneFiring): Promise<boolean> {
  const { triggerId, traceId, eventId } = firing;
  const row = { projectId, triggerId, traceId, eventId, firedAtMs: nowMs };
  const insert = em.createQueryBuilder(TriggerFiringRow).insert(row).onConflict().ignore();
  return (await insert.execute('run')).affectedRows > 0;
}

/** One more trace of a digest that is open is no notification of its own. */
async function isNoisyWith(em: EntityManager, locked: Locked, { firing, nowMs }: Omit<OneFiring, 'projectId'>) {
  const { projectId } = locked.row;
  if (firing.isDigest && (await em.findOne(TriggerEventRow, { projectId, id: firing.eventId })) !== null) return false;
  return await isNoisy(em, locked, nowMs);
}

/** The digest of traces that come after the one of their time was sent. */
const LATE = 'l';

/** A digest takes traces until its first attempt. */
async function addEntry(em: EntityManager, { projectId, firing, nowMs }: OneFiring): Promise<void> {
  const { triggerId, traceId, eventId: id, dueAtMs, isDigest } = firing;
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const digest = isDigest ? await em.findOne(TriggerEventRow, { projectId, id }, lock) : null;
  if (digest !== null && digest.attempts > 0) {
    return await addEntry(em, { projectId, nowMs, firing: { ...firing, eventId: `${id}${LATE}` } });
  }
  if (digest !== null) {
    digest.traceCount += 1;
    if (digest.traceIds.length < TRACE_IDS_MAX) digest.traceIds = [...digest.traceIds, traceId];
    return;
  }
  const about = { projectId, triggerId, id, kind: 'fired' } as const;
  const event = stateEvent(about, WATCHING, { nowMs, notifies: true });
  em.create(TriggerEventRow, { ...event, traceCount: 1, traceIds: [traceId], dueAtMs, ...UNLEASED });
}

const WATCHING = { status: 'OK', value: null, group: null, reason: null } as const;
