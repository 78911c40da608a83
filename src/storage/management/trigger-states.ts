/** The state of triggers, and what they tell, in transactions that lock them. */

import { type InferEntity, LockMode } from '@mikro-orm/core';
import { isNotification, type Trigger, type TriggerState } from '../../domain/triggers/trigger.ts';
import {
  type Evaluated,
  HOUR_MS,
  NOTIFICATIONS_MAX,
  type NotificationKey,
  pausedState,
  type Recorded,
  stateEvent,
} from '../../domain/triggers/trigger-store.ts';
import { TriggerEventRow, TriggerRow, TriggerStateRow } from '../entities/triggers.ts';
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

export type Locked = NonNullable<Awaited<ReturnType<typeof lockTrigger>>>;

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
async function isNoisy(em: EntityManager, locked: Locked, nowMs: number): Promise<boolean> {
  return isNotification(locked.row.action) && (await countNotifications(em, locked, nowMs)) >= NOTIFICATIONS_MAX;
}

/** Of the last hour, since it was last switched on. */
export async function countNotifications(em: EntityManager, { row, state }: Locked, nowMs: number): Promise<number> {
  const { projectId, id: triggerId } = row;
  const sinceMs = Math.max(nowMs - HOUR_MS, state.resumedAtMs);
  const recent = { projectId, triggerId, createdAtMs: { $gte: sinceMs }, delivery: { $ne: 'none' as const } };
  return await em.count(TriggerEventRow, recent);
}

export async function pause(
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
