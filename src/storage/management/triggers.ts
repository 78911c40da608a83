/** Triggers, their states and what they did. */

import { LockMode, raw } from '@mikro-orm/core';
import { WAITS_MAX_MS } from '../../domain/triggers/trigger.ts';
import type { ClaimedNotification, LeasedTrigger, TriggerStore } from '../../domain/triggers/trigger-store.ts';
import { AuditEntry } from '../entities/audit.ts';
import { MonitorChangeCount } from '../entities/monitors.ts';
import { Project } from '../entities/organization.ts';
import { TriggerEventRow, TriggerRow, TriggerStateRow } from '../entities/triggers.ts';
import { appendEvents } from './log-events.ts';
import { countChange } from './monitors.ts';
import { findLive, hasRoom, insertUnlessTaken } from './slugs.ts';
import { fire, removeOrphans } from './trigger-firings.ts';
import { isRunning, lockTrigger, recordAll, sentAt, toState, toTrigger, UNLEASED } from './trigger-states.ts';
import { plain, rowReads, type Units, unleased } from './units.ts';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;
const PRUNED_AT_ONCE = 1_000;

export function createTriggerRoom({ read, transact, log }: Units): TriggerStore {
  const { all } = rowReads(read);
  return {
    find: (projectId, idOrSlug) =>
      read(async (em) => {
        const found = await findLive(em, TriggerRow, { projectId, idOrSlug });
        return found === null ? null : toTrigger(found);
      }),
    insert: ({ trigger, state, audited }, liveMax) =>
      transact(async ({ em }) => {
        const { projectId, id, createdAtMs } = trigger;
        if (!(await hasRoom(em, TriggerRow, { projectId, liveMax }))) return 'limit_reached';
        const runsSince = isRunning(trigger) ? await countChange(em, projectId, createdAtMs) : 0;
        const outcome = await insertUnlessTaken(em, TriggerRow, { ...trigger, runsSince, deletedAtMs: null });
        if (outcome !== 'stored') return outcome;
        await em.insert(TriggerStateRow, { projectId, triggerId: id, ...state, ...UNLEASED });
        await em.insert(AuditEntry, audited);
        return outcome;
      }),
    list: (projectId) =>
      read(async (em) => {
        const [triggers, states] = [
          await em.find(TriggerRow, { projectId, deletedAtMs: null }),
          await em.find(TriggerStateRow, { projectId }),
        ];
        const stateOf = new Map(states.map((state) => [state.triggerId, toState(state)]));
        return triggers.flatMap((row) => {
          const state = stateOf.get(row.id);
          return state === undefined ? [] : [{ trigger: toTrigger(plain(row, 'deletedAtMs')), state }];
        });
      }),
    state: (projectId, triggerId) =>
      read(async (em) => {
        const found = await em.findOne(TriggerStateRow, { projectId, triggerId });
        return found && toState(found);
      }),
    replace: ({ trigger, state, event, audited }, knownAtMs) =>
      transact(async ({ em }) => {
        const { id, projectId, slug: _, createdAtMs: __, kind: ___, ...changed } = trigger;
        const locked = await lockTrigger(em, { projectId, id });
        if (locked?.row.updatedAtMs !== knownAtMs) return 'stale';
        // Also a filter that changes: those who test traces keep the triggers until the number changes.
        const isSeen = isRunning(trigger) || isRunning(locked.row);
        const number = isSeen ? await countChange(em, projectId, trigger.updatedAtMs) : 0;
        const begins = isRunning(trigger) && !isRunning(locked.row);
        const runsSince = begins ? number : locked.row.runsSince;
        Object.assign(locked.row, changed, { runsSince });
        // Ends the lease of an evaluation that goes by the earlier rule.
        if (trigger.kind === 'METRIC') Object.assign(locked.state, UNLEASED);
        if (state !== null) Object.assign(locked.state, state);
        if (event !== null) em.create(TriggerEventRow, { ...event, ...UNLEASED });
        em.create(AuditEntry, audited);
        return 'stored';
      }),
    remove: (projectId, id, { nowMs, audited }) =>
      transact(async ({ em }) => {
        const locked = await lockTrigger(em, { projectId, id });
        if (locked === null) return false;
        if (isRunning(locked.row)) await countChange(em, projectId, nowMs);
        locked.row.deletedAtMs = nowMs;
        em.remove(locked.state);
        em.create(AuditEntry, audited);
        return true;
      }),
    history: async ({ projectId, triggerId, after, limit }) => {
      const onPage = after && {
        createdAtMs: { $lte: after.createdAtMs },
        $or: [{ createdAtMs: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }],
      };
      const where = { projectId, triggerId, ...onPage };
      return await all(TriggerEventRow, where, { orderBy: NEWEST_FIRST, limit, without: ['leasedUntilMs', 'fence'] });
    },
    runningOn: (projectNumber, knownAsOf) =>
      read(async (em) => {
        // The number first: the triggers are then at least as new.
        const asOf = (await em.findOne(MonitorChangeCount, { projectNumber }))?.number ?? 0;
        if (asOf === knownAsOf) return null;
        const project = await em.findOne(Project, { number: projectNumber }, { fields: ['id'] });
        const running = { kind: 'TRACE', active: true, deletedAtMs: null } as const;
        const rows = project === null ? [] : await em.find(TriggerRow, { projectId: project.id, ...running });
        const triggers = rows.map(({ id, filters, query, cadence, action, runsSince }) => ({
          ...{ id, filters, query, cadence, action, runsSince },
        }));
        return { projectId: project?.id ?? null, asOf, triggers };
      }),
    fire: (fired) => transact(({ em }) => fire(em, fired)),
    leaseDue: ({ limit, fence, notOf, ...lease }) =>
      transact(async ({ em }): Promise<readonly LeasedTrigger[]> => {
        const due = { dueAtMs: { $lte: lease.nowMs }, ...unleased(lease) };
        const order = { orderBy: { dueAtMs: 'asc' }, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const;
        const others = notOf.length === 0 ? {} : { projectId: { $nin: [...notOf] } };
        const [first] = await em.find(TriggerStateRow, { ...due, ...others }, { ...order, limit: 1 });
        if (first === undefined) return [];
        const { projectId } = first;
        const states = await em.find(TriggerStateRow, { projectId, ...due }, { ...order, limit });
        const ids = states.map(({ triggerId }) => triggerId);
        const rows = await em.find(TriggerRow, { projectId, id: { $in: ids }, deletedAtMs: null });
        const triggerOf = new Map(rows.map((row) => [row.id, toTrigger(plain(row, 'deletedAtMs'))]));
        return states.flatMap((state) => {
          const trigger = triggerOf.get(state.triggerId);
          if (trigger === undefined) return [];
          Object.assign(state, { leasedUntilMs: lease.untilMs, fence });
          return [{ trigger, state: toState(state), fence }];
        });
      }),
    release: (leased) =>
      transact(async ({ em }) => {
        for (const { trigger, fence } of leased) {
          const { projectId, id: triggerId } = trigger;
          await em.nativeUpdate(TriggerStateRow, { projectId, triggerId, fence }, UNLEASED);
        }
      }),
    record: (evaluated) => transact(({ em }) => recordAll(em, evaluated)),
    claim: ({ limit, fence, notOf, ...lease }) =>
      transact(async ({ em }): Promise<readonly ClaimedNotification[]> => {
        const due = { dueAtMs: { $lte: lease.nowMs }, ...unleased(lease) };
        const order = { orderBy: { dueAtMs: 'asc' }, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const;
        const projects = await em
          .createQueryBuilder(TriggerEventRow)
          .select('projectId')
          .where(notOf.length === 0 ? due : { $and: [due, isOfOthers(notOf)] })
          .groupBy('projectId')
          .orderBy({ [raw('min(due_at)')]: 'asc' })
          .limit(limit)
          .execute<{ readonly projectId: string }[]>('all');
        const share = Math.max(1, Math.floor(limit / projects.length));
        const found = [];
        for (const { projectId } of projects)
          found.push(await em.find(TriggerEventRow, { projectId, ...due }, { ...order, limit: share }));
        const rows = found.flat();
        const owners = await em.find(Project, { id: { $in: projects.map(({ projectId }) => projectId) } });
        const organizationOf = new Map(owners.map(({ id, organizationId }) => [id, organizationId]));
        const ids = [...new Set(rows.map(({ triggerId }) => triggerId))];
        const live = await em.find(TriggerRow, { id: { $in: ids }, deletedAtMs: null });
        const triggerOf = new Map(
          live.map((row) => [`${row.projectId}/${row.id}`, toTrigger(plain(row, 'deletedAtMs'))]),
        );
        return rows.flatMap((row) => {
          const trigger = triggerOf.get(`${row.projectId}/${row.triggerId}`);
          if (trigger === undefined) {
            Object.assign(row, { delivery: 'failed', dueAtMs: null, error: 'The trigger was deleted.' });
            return [];
          }
          Object.assign(row, { leasedUntilMs: lease.untilMs, fence, attempts: row.attempts + 1 });
          const organizationId = organizationOf.get(row.projectId) ?? null;
          return [{ trigger, organizationId, event: plain(row, 'leasedUntilMs', 'fence'), fence }];
        });
      }),
    end: ({ projectId, id, fence, outcome, nowMs }) =>
      transact(async ({ em }) => {
        const changed =
          outcome.kind === 'sent'
            ? sentAt(nowMs)
            : outcome.kind === 'retry'
              ? { error: outcome.error, dueAtMs: outcome.dueAtMs, ...UNLEASED }
              : { error: outcome.error, delivery: 'failed' as const, dueAtMs: null, ...UNLEASED };
        return (await em.nativeUpdate(TriggerEventRow, { projectId, id, fence, delivery: 'pending' }, changed)) > 0;
      }),
    handOver: ({ projectId, id, fence, organizationId, event, nowMs }) =>
      transact(async ({ em }) => {
        const claimed = { projectId, id, fence, delivery: 'pending' as const };
        if ((await em.nativeUpdate(TriggerEventRow, claimed, sentAt(nowMs))) === 0) return false;
        await appendEvents({ em, log, organizationId }, [event]);
        return true;
      }),
    takeOver: () =>
      transact(async ({ em }) => {
        const leased = { dueAtMs: { $ne: null }, leasedUntilMs: { $gt: 0 } };
        await em.nativeUpdate(TriggerStateRow, leased, UNLEASED);
        await em.nativeUpdate(TriggerEventRow, leased, UNLEASED);
      }),
    correctDue: (nowMs) =>
      transact(async ({ em }) => {
        const { evaluation, notification, lease } = WAITS_MAX_MS;
        const due = { dueAtMs: nowMs };
        await em.nativeUpdate(TriggerStateRow, { dueAtMs: { $gt: nowMs + evaluation } }, due);
        await em.nativeUpdate(TriggerEventRow, { dueAtMs: { $gt: nowMs + notification } }, due);
        const leased = { dueAtMs: { $ne: null }, leasedUntilMs: { $gt: nowMs + lease } };
        await em.nativeUpdate(TriggerStateRow, leased, UNLEASED);
        await em.nativeUpdate(TriggerEventRow, leased, UNLEASED);
      }),
    prune: ({ eventsMs }) =>
      transact(async ({ em }) => {
        const some = { limit: PRUNED_AT_ONCE } as const;
        const events = await em.find(TriggerEventRow, { createdAtMs: { $lt: eventsMs }, dueAtMs: null }, some);
        for (const row of events) em.remove(row);
        const firings = await removeOrphans(em, PRUNED_AT_ONCE);
        return events.length === PRUNED_AT_ONCE || firings === PRUNED_AT_ONCE ? 'more' : 'done';
      }),
  };
}

/** Whether the project of a row is of none of some organizations. */
function isOfOthers(organizationIds: readonly string[]) {
  const places = organizationIds.map(() => '?').join(', ');
  const text = `project_id not in (select id from projects where organization_id in (${places}))`;
  return { [raw(text, [...organizationIds])]: [] };
}
