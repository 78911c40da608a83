import { describe, expect, it } from 'vitest';
import { ANY_TRACE } from '../../../src/domain/analytics/trace-analytics-store.ts';
import { TRIGGERS } from '../../../src/domain/evaluations/jobs.ts';
import type { FeedbackEvent, Recording } from '../../../src/domain/feedback/feedback-event.ts';
import type { Store } from '../../../src/domain/store.ts';
import { beginningState, type Trigger } from '../../../src/domain/triggers/trigger.ts';
import { found, sampleAudit } from './management-samples.ts';
import { finish, NO_TELEMETRY_CUTS } from './retention-walk.ts';
import { PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend } from './samples.ts';
import { keepUp, type OpenSubject, withStore } from './subject.ts';
import { sampleTrigger } from './triggers.ts';

const DAY_MS = 86_400_000;

type Changes = Partial<FeedbackEvent> & Partial<Pick<Recording, 'contentId' | 'bytes' | 'room'>>;

export function recordingOf({ contentId = null, bytes = 100, room, ...changes }: Changes): Recording {
  const event: FeedbackEvent = {
    eventId: randomHex(16),
    traceId: randomHex(32),
    type: 'thumbs_up_down',
    metricsJson: '{"vote":1}',
    detailsJson: '{"feedback":"\u00fc"}',
    occurredAtMs: RECEIVED_AT_MS,
    receivedAtMs: RECEIVED_AT_MS,
    ...changes,
  };
  const roomy = { eventsMax: 100, bytesMax: 1_000_000 };
  return { projectNumber: PROJECT.number, event, contentId, bytes, room: room ?? roomy, alikeWithinMs: 1_000 };
}

async function idsOf({ feedback }: Store, traceId: string) {
  return (await feedback.listOf(PROJECT.number, [traceId])).map(({ eventId }) => eventId);
}

async function find({ search }: Store, name: 'events.event_type' | 'events.metrics', of: string, values: string[]) {
  const found = await search.find({
    projectNumber: PROJECT.number,
    expiredBeforeMs: null,
    started: { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    updated: { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    sort: 'started_at',
    isAscending: true,
    traceIds: null,
    filter: { conditions: [{ name, of, values }], isNegated: false, text: '' },
    after: null,
    limit: 10,
    countMax: null,
  });
  return found.traces.map(({ traceId }) => traceId);
}

async function retain({ telemetryRetention }: Store, feedbackBeforeMs: number) {
  await finish(telemetryRetention.begin({ ...NO_TELEMETRY_CUTS, feedbackBeforeMs }), 10);
}

export function feedbackConformance(open: OpenSubject): void {
  describe('feedback', () => {
    it(
      'MUST be stored once however often it is sent, at once too, and be seen by every call after that',
      withStore(open, async (store) => {
        const first = recordingOf({});
        const { traceId, eventId } = first.event;
        const sent = await Promise.all([1, 2, 3].map(() => store.feedback.record(first)));
        expect(sent.toSorted()).toEqual(['known', 'known', 'stored']);
        const alike = (occurredAtMs: number) => recordingOf({ traceId, contentId: 'content', occurredAtMs });
        const twice = await Promise.all([0, 900, 500].map((ms) => store.feedback.record(alike(RECEIVED_AT_MS + ms))));
        expect(twice.toSorted()).toEqual(['known', 'known', 'stored']);
        expect(await store.feedback.record(alike(RECEIVED_AT_MS + 5_000))).toBe('stored');
        expect(await store.feedback.record(recordingOf({ traceId, contentId: 'other' }))).toBe('stored');
        const listed = await store.feedback.listOf(PROJECT.number, [randomHex(32), traceId]);
        expect(listed).toHaveLength(4);
        expect(listed.find((each) => each.eventId === eventId)).toEqual(first.event);
        expect(await store.feedback.listOf(PROJECT.number + 1, [traceId])).toEqual([]);
        // One id stands for one event, also where it names another trace.
        const [other, third] = [randomHex(32), randomHex(32)];
        expect(await store.feedback.record(recordingOf({ eventId, traceId: other }))).toBe('known');
        expect(await idsOf(store, other)).toEqual([]);
        const both = [other, third].map((each) => recordingOf({ eventId: 'shared', traceId: each }));
        const once = await Promise.all(both.map((each) => store.feedback.record(each)));
        expect(once.toSorted()).toEqual(['known', 'stored']);
      }),
    );

    it(
      'MUST return `full` beyond the room of the trace',
      withStore(open, async (store) => {
        const traceId = randomHex(32);
        const record = (bytes: number, room: Recording['room']) =>
          store.feedback.record(recordingOf({ traceId, bytes, room }));
        expect(await record(60, { eventsMax: 2, bytesMax: 100 })).toBe('stored');
        expect(await record(60, { eventsMax: 2, bytesMax: 100 })).toBe('full');
        expect(await record(40, { eventsMax: 2, bytesMax: 100 })).toBe('stored');
        expect(await record(0, { eventsMax: 2, bytesMax: 100 })).toBe('full');
        expect(await idsOf(store, traceId)).toHaveLength(2);
      }),
    );

    it(
      'waits for its trace, MUST note a trace as changed, and is found by its filters, indexed or not',
      withStore(open, async (store) => {
        const [early, late] = [recordingOf({}), recordingOf({ type: 'opened', metricsJson: '{"clicks":7}' })];
        await store.feedback.record(early);
        for (const { event } of [early, late]) await store.traces.append(sampleAppend({ traceId: event.traceId }));
        await keepUp(store);
        const before = await store.traces.find(PROJECT.number, late.event.traceId);
        await store.feedback.record(late);
        const after = await store.traces.find(PROJECT.number, late.event.traceId);
        expect(after?.updatedAtMs).toBeGreaterThan(before?.updatedAtMs ?? Number.POSITIVE_INFINITY);
        for (const _ of ['not indexed', 'indexed']) {
          expect(await find(store, 'events.event_type', '', ['thumbs_up_down'])).toEqual([early.event.traceId]);
          expect(await find(store, 'events.event_type', '', ['opened', 'closed'])).toEqual([late.event.traceId]);
          expect(await find(store, 'events.metrics', 'clicks', ['5', ''])).toEqual([late.event.traceId]);
          expect(await find(store, 'events.metrics', 'clicks', ['8', '9'])).toEqual([]);
          expect(await find(store, 'events.metrics', 'vote', ['', '1'])).toEqual([early.event.traceId]);
          await keepUp(store);
        }
      }),
    );

    it(
      'tests the triggers again where one asks for it, as annotations do, and forgets what fired with the trace',
      withStore(open, async (store) => {
        const { triggers, evaluationJobs } = store;
        const { organization, project } = await found(store);
        const { number = 0 } = (await store.keys.findProject(project.id)) ?? {};
        const made = (filter: string, id: string) =>
          sampleTrigger({
            ...{ id, slug: id, kind: 'TRACE', rule: null, projectId: project.id },
            filters: [{ name: filter, key: null, values: ['opened'] }],
          });
        const add = async (trigger: Trigger) =>
          triggers.insert(
            { trigger, state: beginningState(trigger, RECEIVED_AT_MS), audited: sampleAudit(organization.id) },
            10,
          );
        const ids = { projectId: project.id, projectNumber: number, organizationId: organization.id };
        const append = sampleAppend({ ...ids, requests: [] });
        const { traceId } = append;
        await store.traces.append(append);
        const rate = () => store.feedback.record({ ...recordingOf({ traceId }), projectNumber: number });
        const depth = async () => (await evaluationJobs.counts(10)).depth;
        await add(made('traces.name', 'trigger_1'));
        await rate();
        expect(await depth()).toBe(0);
        await add(made('events.event_type', 'trigger_2'));
        await rate();
        expect(await depth()).toBe(1);
        await rate();
        const shares = [{ projectNumber: number, limits: { monitors: 10, triggers: 10, calls: 10 } }];
        const claim = { shares, nowMs: RECEIVED_AT_MS + DAY_MS, leaseMs: 60_000, fence: 1 };
        const jobs = await evaluationJobs.claim(claim);
        expect(jobs).toMatchObject([{ traceId, sourceId: TRIGGERS }]);
        await evaluationJobs.drop(jobs);
        const fire = (eventId: string) =>
          triggers.fire({
            projectId: project.id,
            firings: [{ triggerId: 'trigger_2', traceId, eventId, dueAtMs: RECEIVED_AT_MS, isDigest: false }],
            nowMs: RECEIVED_AT_MS,
            pauseIds: ['pause'],
          });
        expect([await fire('alert_1'), await fire('alert_2')]).toEqual([1, 0]);
        await store.traceChanges.removeTrace({ projectNumber: number, expiredBeforeMs: null, traceId });
        expect(await fire('alert_3')).toBe(1);
        await store.traces.append(append);
        // An append that finds its trace expired makes a new one.
        const later = { expiredBeforeMs: RECEIVED_AT_MS + 1, receivedAtMs: RECEIVED_AT_MS + 2 };
        await store.traces.append({ ...append, ...later });
        expect(await fire('alert_4')).toBe(1);
      }),
    );

    it(
      'is removed with its trace, and by retention where its trace never came',
      withStore(open, async (store) => {
        const [orphan, young, kept, removed] = [
          recordingOf({}),
          recordingOf({ receivedAtMs: RECEIVED_AT_MS + 10 }),
          recordingOf({}),
          recordingOf({}),
        ];
        for (const each of [orphan, young, kept, removed]) await store.feedback.record(each);
        for (const { event } of [kept, removed]) await store.traces.append(sampleAppend({ traceId: event.traceId }));
        await retain(store, RECEIVED_AT_MS + 1);
        const { traceId } = removed.event;
        await store.traceChanges.removeTrace({ projectNumber: PROJECT.number, expiredBeforeMs: null, traceId });
        const left = await Promise.all([orphan, young, kept, removed].map(({ event }) => idsOf(store, event.traceId)));
        expect(left).toEqual([[], [young.event.eventId], [kept.event.eventId], []]);
        const expired = sampleAppend({ traceId: kept.event.traceId });
        await retain(store, RECEIVED_AT_MS + 20);
        expect(await idsOf(store, young.event.traceId)).toEqual([]);
        expect(await idsOf(store, kept.event.traceId)).toHaveLength(1);
        // An append that finds its trace expired makes a new one.
        await store.traces.append({
          ...expired,
          expiredBeforeMs: RECEIVED_AT_MS + 1,
          receivedAtMs: RECEIVED_AT_MS + 2,
        });
        expect(await idsOf(store, kept.event.traceId)).toEqual([]);
      }),
    );

    it(
      'is summed up by the start of its traces, by group and for the buckets that are asked for',
      withStore(open, async (store) => {
        const [mine, other] = [randomHex(32), randomHex(32)];
        for (const [traceId, user] of [
          [mine, 'me'],
          [other, 'you'],
        ] as const) {
          await store.traces.append(sampleAppend({ traceId, metadataJson: `{"user_id":"${user}"}` }));
        }
        const votes = [
          [mine, 1],
          [mine, 0],
          [other, -1],
          [other, 1],
        ] as const;
        for (const [traceId, vote] of votes) {
          await store.feedback.record(recordingOf({ traceId, metricsJson: `{"vote":${vote}}` }));
        }
        const query = {
          ...{ projectNumber: PROJECT.number, expiredBeforeMs: null, fromMs: 0, toMs: RECEIVED_AT_MS * 2 },
          ...{ interval: 'total' as const, hasPercentiles: false, groupsMax: 10, bucketsMax: 10 },
          conditions: ANY_TRACE,
          metrics: ['events.thumbs_up_down.vote'],
        } as const;
        const sum = (groupBy: 'none' | 'user_id', groups: readonly (string | null)[], userId: string | null = null) =>
          store.analytics.summariseFeedback({
            ...query,
            groupBy,
            conditions: { ...query.conditions, userId },
            buckets: groups.map((group) => ({ startMs: 0, group })),
          });
        const named = (total: number, count: number) => [{ name: query.metrics[0], sum: total, count }];
        expect(await sum('none', [null])).toEqual({
          kind: 'sums',
          sums: [{ metrics: named(1, 4), thumbsUp: 2, thumbsDown: 1 }],
        });
        expect(await sum('user_id', ['you', 'nobody', 'me'])).toEqual({
          kind: 'sums',
          sums: [
            { metrics: named(0, 2), thumbsUp: 1, thumbsDown: 1 },
            { metrics: [], thumbsUp: 0, thumbsDown: 0 },
            { metrics: named(1, 2), thumbsUp: 1, thumbsDown: 0 },
          ],
        });
        expect(await sum('none', [null], 'me')).toMatchObject({ sums: [{ thumbsUp: 1, thumbsDown: 0 }] });
      }),
    );
  });
}
