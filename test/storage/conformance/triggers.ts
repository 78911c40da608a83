import { describe, expect, it } from 'vitest';
import type { Management } from '../../../src/domain/management/management-port.ts';
import { beginningState, type Trigger, type TriggerState } from '../../../src/domain/triggers/trigger.ts';
import {
  type Evaluated,
  type Firing,
  NOTIFICATIONS_MAX,
  stateEvent,
  type TriggerWithState,
} from '../../../src/domain/triggers/trigger-store.ts';
import { found, sampleAudit } from './management-samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const AT_MS = 1_790_000_000_000;
const MINUTE_MS = 60_000;
const LEASE_MS = MINUTE_MS;

export function sampleTrigger(changes: Partial<Trigger> = {}): Trigger {
  return {
    id: 'trigger_1',
    projectId: 'project_1',
    name: 'Größe',
    slug: 'a-slug',
    kind: 'METRIC',
    active: true,
    filters: [{ name: 'metadata.labels', key: null, values: ['ü "x"'] }],
    query: '',
    alertType: 'CRITICAL',
    message: null,
    action: 'SEND_WEBHOOK',
    actionParams: {},
    secret: null,
    cadence: 'IMMEDIATE',
    rule: {
      series: { metric: 'errors', aggregation: 'share', groupBy: 'none' },
      operator: 'GT',
      warning: null,
      alert: 5,
      windowMinutes: 5,
      recoveryWindows: 1,
      noData: 'KEEP',
      renotifyMinutes: null,
    },
    createdAtMs: AT_MS,
    updatedAtMs: AT_MS,
    ...changes,
  };
}

const onTraces = (changes: Partial<Trigger> = {}) => sampleTrigger({ kind: 'TRACE', rule: null, ...changes });

type Store = Management['triggers'];

async function insert({ triggers }: Management, trigger: Trigger, organizationId: string): Promise<TriggerWithState> {
  const state = beginningState(trigger, AT_MS);
  expect(await triggers.insert({ trigger, state, audited: sampleAudit(organizationId) }, 1_000)).toBe('stored');
  return { trigger, state };
}

const leaseOf = (triggers: Store, nowMs: number, fence: number, notOf: readonly string[] = []) =>
  triggers.leaseDue({ nowMs, untilMs: nowMs + LEASE_MS, fence, limit: 10, notOf });
const claimOf = (triggers: Store, nowMs: number, fence: number) =>
  triggers.claim({ nowMs, untilMs: nowMs + LEASE_MS, fence, limit: 10, notOf: [] });

/** An evaluation that finds an alert. */
function alerted({ trigger, state }: TriggerWithState, fence: number, nowMs: number): Evaluated {
  const next: TriggerState = {
    ...state,
    ...{ status: 'ALERT', announced: 'ALERT', sinceMs: nowMs, value: 7.5, evaluatedAtMs: nowMs },
    ...{ notifiedAtMs: nowMs, dueAtMs: nowMs + MINUTE_MS },
  };
  const about = { projectId: trigger.projectId, triggerId: trigger.id, id: `alert_${nowMs}`, kind: 'fired' } as const;
  const event = stateEvent(about, next, { nowMs, notifies: true });
  const { projectId, id: triggerId, updatedAtMs: triggerUpdatedAtMs } = trigger;
  return { projectId, triggerId, fence, triggerUpdatedAtMs, next, event, nowMs };
}

const historyOf = (triggers: Store, triggerId = 'trigger_1') =>
  triggers.history({ projectId: 'project_1', triggerId, after: null, limit: 500 });

const firing = (changes: Partial<Firing> = {}): Firing => ({
  triggerId: 'trigger_1',
  traceId: 'trace-1',
  eventId: 'alert_1',
  dueAtMs: AT_MS,
  isDigest: false,
  ...changes,
});
const fire = (triggers: Store, firings: readonly Firing[], nowMs = AT_MS) =>
  triggers.fire({ projectId: 'project_1', firings, nowMs, pauseIds: firings.map((_, index) => `pause_${index}`) });

export function triggerConformance(open: OpenManagement): void {
  const withOrganization = (body: (store: Management, organizationId: string) => Promise<void>) =>
    withStore(open, async (store) => {
      const { organization } = await found(store);
      await body(store, organization.id);
    });

  describe('triggers', () => {
    it(
      'are found whole, by no other project, and listed with their states',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const sealed = sampleTrigger({ secret: Buffer.from([1, 2, 3]) });
        const { state } = await insert(store, sealed, organizationId);
        const stored = await triggers.find('project_1', 'trigger_1');
        expect(Buffer.from(stored?.secret ?? [])).toEqual(sealed.secret);
        expect({ ...stored, secret: null }).toEqual({ ...sealed, secret: null });
        expect(await triggers.find('project_2', 'trigger_1')).toBeNull();
        expect(await triggers.state('project_1', 'trigger_1')).toEqual(state);
        expect((await triggers.list('project_1')).map((each) => each.state)).toEqual([state]);
        expect(await triggers.list('project_2')).toEqual([]);
        const other = { trigger: sampleTrigger({ id: 'trigger_2' }), state, audited: sampleAudit(organizationId) };
        expect(await triggers.insert(other, 1_000)).toBe('slug_taken');
        const another = { ...other.trigger, slug: 'other' };
        expect(await triggers.insert({ ...other, trigger: another }, 1)).toBe('limit_reached');
      }),
    );

    it(
      'are replaced only as they were read, which ends the lease of an evaluation by the earlier rule',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const made = await insert(store, sampleTrigger(), organizationId);
        const [leased] = await leaseOf(triggers, AT_MS, 1);
        expect(leased).toEqual({ ...made, fence: 1 });
        const trigger = sampleTrigger({ name: 'Other', updatedAtMs: AT_MS + 1 });
        const change = { trigger, state: null, event: null, audited: sampleAudit(organizationId) };
        expect(await triggers.replace(change, AT_MS - 1)).toBe('stale');
        expect(await triggers.replace(change, AT_MS)).toBe('stored');
        expect(await triggers.find('project_1', 'trigger_1')).toEqual(trigger);
        expect(await triggers.record([alerted(made, 1, AT_MS)])).toEqual(['stale']);
        expect(await historyOf(triggers)).toEqual([]);
      }),
    );

    it(
      'are evaluated by one process at a time, and again once the lease of a killed one has ended',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const made = await insert(store, sampleTrigger(), organizationId);
        expect(await leaseOf(triggers, AT_MS - 1, 1)).toEqual([]);
        expect(await leaseOf(triggers, AT_MS, 1)).toHaveLength(1);
        expect(await leaseOf(triggers, AT_MS + LEASE_MS - 1, 2)).toEqual([]);
        expect(await leaseOf(triggers, AT_MS + LEASE_MS, 2)).toHaveLength(1);
        // The first one was only slow.
        expect(await triggers.record([alerted(made, 1, AT_MS)])).toEqual(['stale']);
        expect(await triggers.record([alerted(made, 2, AT_MS + LEASE_MS)])).toEqual(['recorded']);
        expect(await triggers.record([alerted(made, 2, AT_MS + LEASE_MS)])).toEqual(['stale']);
        const [event, ...others] = await historyOf(triggers);
        expect(others).toEqual([]);
        expect(event).toMatchObject({ kind: 'fired', status: 'ALERT', value: 7.5, delivery: 'pending' });
        expect(await triggers.state('project_1', 'trigger_1')).toMatchObject({ status: 'ALERT', announced: 'ALERT' });
        expect(await leaseOf(triggers, AT_MS + LEASE_MS, 3)).toEqual([]);
      }),
    );

    it(
      'store a state and what it tells together, or neither',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const made = await insert(store, sampleTrigger(), organizationId);
        await leaseOf(triggers, AT_MS, 1);
        expect(await triggers.record([alerted(made, 1, AT_MS)])).toEqual(['recorded']);
        await leaseOf(triggers, AT_MS + MINUTE_MS, 2);
        // The id of the entry is taken, so that the entry cannot be stored.
        const again = { ...alerted(made, 2, AT_MS), next: { ...made.state, value: 99 } };
        await expect(triggers.record([again])).rejects.toThrow();
        expect(await triggers.state('project_1', 'trigger_1')).toMatchObject({ value: 7.5 });
      }),
    );

    it(
      'are leased for the project that waits longest and is not left out, and are free again once released',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        await insert(store, sampleTrigger(), organizationId);
        await insert(store, sampleTrigger({ projectId: 'project_2', id: 'trigger_2' }), organizationId);
        const projectsOf = (leased: readonly { readonly trigger: Trigger }[]) =>
          leased.map(({ trigger }) => trigger.projectId);
        const first = await leaseOf(triggers, AT_MS, 1, ['project_2']);
        expect(projectsOf(first)).toEqual(['project_1']);
        expect(await leaseOf(triggers, AT_MS, 2, ['project_2'])).toEqual([]);
        expect(projectsOf(await leaseOf(triggers, AT_MS, 3))).toEqual(['project_2']);
        await triggers.release(first.map((each) => ({ ...each, fence: 99 })));
        expect(await leaseOf(triggers, AT_MS, 4)).toEqual([]);
        await triggers.release(first);
        expect(projectsOf(await leaseOf(triggers, AT_MS, 5))).toEqual(['project_1']);
      }),
    );

    it(
      'notify by one process at a time under the same id, and hand an event of the log over once',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const made = await insert(store, sampleTrigger(), organizationId);
        await leaseOf(triggers, AT_MS, 1);
        await triggers.record([alerted(made, 1, AT_MS)]);
        const [first] = await claimOf(triggers, AT_MS, 11);
        expect(first).toMatchObject({ trigger: { id: 'trigger_1' }, event: { attempts: 1 }, fence: 11 });
        expect(await claimOf(triggers, AT_MS + LEASE_MS - 1, 12)).toEqual([]);
        // The first process was killed.
        const [second] = await claimOf(triggers, AT_MS + LEASE_MS, 12);
        expect(second?.event).toMatchObject({ id: first?.event.id, attempts: 2 });
        const key = { projectId: 'project_1', id: second?.event.id ?? '', nowMs: AT_MS };
        const event = { id: key.id, type: 'alert.fired', dataJson: '{"a":1}' } as const;
        expect(await triggers.handOver({ ...key, fence: 11, organizationId, event })).toBe(false);
        expect(await triggers.handOver({ ...key, fence: 12, organizationId, event })).toBe(true);
        expect(await triggers.handOver({ ...key, fence: 12, organizationId, event })).toBe(false);
        expect(await claimOf(triggers, AT_MS + 10 * LEASE_MS, 13)).toEqual([]);
        expect((await historyOf(triggers))[0]).toMatchObject({ delivery: 'sent', sentAtMs: AT_MS, dueAtMs: null });
      }),
    );

    it(
      'try a notification again when it is due, and end it for good',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        await insert(store, onTraces(), organizationId);
        await fire(triggers, [firing()]);
        await claimOf(triggers, AT_MS, 1);
        const key = { projectId: 'project_1', id: 'alert_1', fence: 1, nowMs: AT_MS };
        const retry = { kind: 'retry', error: 'HTTP 503', dueAtMs: AT_MS + MINUTE_MS } as const;
        expect(await triggers.end({ ...key, outcome: retry })).toBe(true);
        expect(await triggers.end({ ...key, outcome: { kind: 'sent' } })).toBe(false);
        expect(await claimOf(triggers, AT_MS + MINUTE_MS - 1, 2)).toEqual([]);
        expect(await claimOf(triggers, AT_MS + MINUTE_MS, 2)).toHaveLength(1);
        expect(await triggers.end({ ...key, fence: 2, outcome: { kind: 'failed', error: 'HTTP 404' } })).toBe(true);
        expect((await historyOf(triggers))[0]).toMatchObject({ delivery: 'failed', error: 'HTTP 404', attempts: 2 });
        expect(await claimOf(triggers, AT_MS + 10 * LEASE_MS, 3)).toEqual([]);
      }),
    );

    it(
      'MUST be due again after a clock that was days ahead put them off, and wait as they did otherwise',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const aheadMs = AT_MS + 2 * 86_400_000;
        const made = await insert(store, sampleTrigger(), organizationId);
        await leaseOf(triggers, AT_MS, 1);
        await triggers.record([alerted(made, 1, aheadMs)]);
        expect(await claimOf(triggers, aheadMs, 2)).toHaveLength(1);
        const found = async () => [
          (await leaseOf(triggers, AT_MS + MINUTE_MS, 3)).length,
          (await claimOf(triggers, AT_MS + MINUTE_MS, 3)).length,
        ];
        expect(await found()).toEqual([0, 0]);
        await triggers.correctDue(AT_MS);
        expect(await found()).toEqual([1, 1]);
        // Leases of a clock that is right stay.
        await triggers.correctDue(AT_MS + MINUTE_MS);
        expect(await found()).toEqual([0, 0]);
        const retry = { kind: 'retry', error: 'HTTP 503', dueAtMs: AT_MS + 60 * MINUTE_MS } as const;
        const key = { projectId: 'project_1', id: `alert_${aheadMs}`, fence: 3, nowMs: AT_MS };
        expect(await triggers.end({ ...key, outcome: retry })).toBe(true);
        await triggers.correctDue(AT_MS);
        expect(await claimOf(triggers, AT_MS + 60 * MINUTE_MS - 1, 4)).toEqual([]);
      }),
    );

    it(
      'fire for each trace once, ever, and put the traces of a digest into one entry',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        await insert(store, onTraces(), organizationId);
        expect(await fire(triggers, [firing(), firing({ traceId: 'trace-2', eventId: 'alert_2' })])).toBe(2);
        expect(await fire(triggers, [firing({ eventId: 'alert_3' })])).toBe(0);
        expect(await historyOf(triggers)).toHaveLength(2);
        const digest = { eventId: 'alert_d', dueAtMs: AT_MS + 5 * MINUTE_MS, isDigest: true };
        const traces = Array.from({ length: 22 }, (_, index) => firing({ ...digest, traceId: `d-${index}` }));
        expect(await fire(triggers, traces)).toBe(22);
        const entry = (await historyOf(triggers)).find(({ id }) => id === 'alert_d');
        expect(entry).toMatchObject({ traceCount: 22, delivery: 'pending' });
        expect(entry?.traceIds).toHaveLength(20);
        expect(await claimOf(triggers, AT_MS + 5 * MINUTE_MS - 1, 1)).toHaveLength(2);
        expect(await claimOf(triggers, AT_MS + 5 * MINUTE_MS, 2)).toHaveLength(1);
        // A trace that comes after the digest was claimed is in another one.
        expect(await fire(triggers, [firing({ ...digest, traceId: 'late' })])).toBe(1);
        expect((await historyOf(triggers)).find(({ id }) => id === 'alert_d')).toMatchObject({ traceCount: 22 });
        expect((await historyOf(triggers)).filter(({ traceIds }) => traceIds.includes('late'))).toHaveLength(1);
      }),
    );

    it(
      'that run on traces are read again only after a change, also of a filter',
      withStore(open, async (store) => {
        const { triggers } = store;
        const { organization, project } = await found(store);
        const { number = 0 } = (await store.keys.findProject(project.id)) ?? {};
        const { trigger } = await insert(store, onTraces({ projectId: project.id }), organization.id);
        const first = await triggers.runningOn(number, null);
        expect(first).toMatchObject({
          projectId: project.id,
          triggers: [{ id: 'trigger_1', filters: trigger.filters }],
        });
        expect(first?.triggers[0]?.runsSince).toBe(first?.asOf);
        expect(await triggers.runningOn(number, first?.asOf ?? null)).toBeNull();
        const changed = { ...trigger, query: 'other', updatedAtMs: AT_MS + 1 };
        const change = { trigger: changed, state: null, event: null, audited: sampleAudit(organization.id) };
        expect(await triggers.replace(change, AT_MS)).toBe('stored');
        const second = await triggers.runningOn(number, first?.asOf ?? null);
        expect(second?.triggers).toEqual([{ ...first?.triggers[0], query: 'other' }]);
        await triggers.remove(project.id, 'trigger_1', { nowMs: AT_MS + 2, audited: sampleAudit(organization.id) });
        expect(await triggers.runningOn(number, second?.asOf ?? null)).toMatchObject({ triggers: [] });
      }),
    );

    it(
      'are paused by the notification after the hundredth of an hour, until they are switched on again',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        const { trigger } = await insert(store, onTraces(), organizationId);
        const many = Array.from({ length: NOTIFICATIONS_MAX + 5 }, (_, index) =>
          firing({ traceId: `trace-${index}`, eventId: `alert_${index}` }),
        );
        expect(await fire(triggers, many)).toBe(NOTIFICATIONS_MAX);
        const paused = await triggers.find('project_1', 'trigger_1');
        expect(paused?.active).toBe(false);
        expect(await triggers.state('project_1', 'trigger_1')).toMatchObject({ status: 'PAUSED' });
        const [last] = (await historyOf(triggers)).filter(({ kind }) => kind === 'changed');
        expect(last).toMatchObject({ status: 'PAUSED', delivery: 'none' });
        expect(await fire(triggers, [firing({ traceId: 'later', eventId: 'later' })])).toBe(0);
        const resumed = { ...trigger, updatedAtMs: (paused?.updatedAtMs ?? 0) + 1 };
        const change = {
          trigger: resumed,
          state: beginningState(resumed, AT_MS + 1),
          event: null,
          audited: sampleAudit(organizationId),
        };
        expect(await triggers.replace(change, paused?.updatedAtMs ?? 0)).toBe('stored');
        expect(await fire(triggers, [firing({ traceId: 'later', eventId: 'later' })], AT_MS + 2)).toBe(1);
      }),
    );

    it(
      'of one project never keep the notifications of another waiting',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        await insert(store, onTraces(), organizationId);
        await insert(store, onTraces({ projectId: 'project_2' }), organizationId);
        const many = Array.from({ length: 40 }, (_, index) =>
          firing({ traceId: `trace-${index}`, eventId: `alert_${index}`, dueAtMs: AT_MS + index }),
        );
        await fire(triggers, many);
        const late = firing({ eventId: 'alert_late', dueAtMs: AT_MS + 100 });
        await triggers.fire({ projectId: 'project_2', firings: [late], nowMs: AT_MS, pauseIds: ['pause_late'] });
        const claimed = await claimOf(triggers, AT_MS + MINUTE_MS, 1);
        expect(claimed.map(({ event }) => event.id)).toEqual([
          ...Array.from({ length: 5 }, (_, index) => `alert_${index}`),
          'alert_late',
        ]);
      }),
    );

    it(
      'of organizations that have enough under way leave the turn to others',
      withStore(open, async (store) => {
        const { triggers } = store;
        const { organization, project } = await found(store);
        await insert(store, onTraces({ projectId: project.id }), organization.id);
        const fired = { projectId: project.id, nowMs: AT_MS, pauseIds: ['pause_0'] };
        await triggers.fire({ ...fired, firings: [firing()] });
        const lease = { nowMs: AT_MS, untilMs: AT_MS + LEASE_MS, limit: 10 };
        expect(await triggers.claim({ ...lease, fence: 1, notOf: ['other', organization.id] })).toEqual([]);
        const [claimed] = await triggers.claim({ ...lease, fence: 2, notOf: ['other'] });
        expect(claimed).toMatchObject({ organizationId: organization.id, event: { id: 'alert_1' } });
      }),
    );

    it(
      'that are deleted drop the notifications that wait, and old entries are removed in parts',
      withOrganization(async (store, organizationId) => {
        const { triggers } = store;
        await insert(store, onTraces(), organizationId);
        await fire(triggers, [firing()]);
        const removal = { nowMs: AT_MS + 1, audited: sampleAudit(organizationId) };
        expect(await triggers.remove('project_1', 'trigger_1', removal)).toBe(true);
        expect(await triggers.remove('project_1', 'trigger_1', removal)).toBe(false);
        expect(await triggers.find('project_1', 'trigger_1')).toBeNull();
        expect(await claimOf(triggers, AT_MS + 1, 1)).toEqual([]);
        expect(await triggers.prune({ eventsMs: AT_MS + 1 })).toBe('done');
        expect(await historyOf(triggers)).toEqual([]);
      }),
    );
  });
}
