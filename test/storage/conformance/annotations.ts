import { describe, expect, it } from 'vitest';
import type { Annotation, AnnotationWrite, ScoreDefinition } from '../../../src/domain/annotations/annotation.ts';
import type { NewItems, QueueItem } from '../../../src/domain/annotations/queue.ts';
import type { AuditRecord } from '../../../src/domain/management/management.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { Condition } from '../../../src/domain/traces/search/trace-filter.ts';
import { ORGANIZATION, PROJECT, RECEIVED_AT_MS, randomHex, sampleAppend, samplePlan } from './samples.ts';
import { keepUp, type OpenSubject, type Subject, withStore } from './subject.ts';

const NOW = RECEIVED_AT_MS + 1_000;
const MINUTE_MS = 60_000;
const projectNumber = PROJECT.number;

function audited(action = 'annotation.create'): AuditRecord {
  const caller = {
    organizationId: ORGANIZATION.id,
    actorKind: 'project_key',
    ip: null,
    userAgent: null,
  } as const;
  const of = { actorUserId: null, actorKeyId: null, requestId: null, traceId: null, targetId: null, code: null };
  return {
    ...{ ...caller, ...of, id: randomHex(16), createdAtMs: NOW, action, targetType: 'annotation' },
    ...{ outcome: 'success', status: 200, fields: [], count: 1 },
  };
}

export function annotationOf(changes: Partial<Annotation>): Annotation {
  const empty = { spanId: null, anchorPath: null, isThumbsUp: null, userId: null, email: null, expectedOutput: null };
  const times = { createdAtMs: NOW, updatedAtMs: NOW };
  return {
    ...empty,
    ...times,
    id: randomHex(16),
    traceId: '',
    anchorKind: 'trace',
    comment: 'ü',
    scores: {},
    ...changes,
  };
}

export function writeOf(annotation: Annotation, changes: Partial<AnnotationWrite> = {}): AnnotationWrite {
  const activity = { reviewer: 'nobody', untilMs: NOW };
  return { projectNumber, annotation, expected: [], activity, audited: audited(), ...changes };
}

const insert = ({ annotations }: Store, annotation: Annotation, changes: Partial<AnnotationWrite> = {}) =>
  annotations.insert({ ...writeOf(annotation, changes), annotationsMax: 3 });

async function newTrace({ traces }: Store): Promise<string> {
  const traceId = randomHex(32);
  await traces.append(sampleAppend({ traceId }));
  return traceId;
}

const remove = ({ traceChanges }: Store, traceId: string) =>
  traceChanges.removeTrace({ projectNumber, expiredBeforeMs: null, traceId });

export function scoreOf(changes: Partial<ScoreDefinition>): ScoreDefinition {
  const values = { options: [], min: null, max: null, active: true, createdAtMs: NOW, updatedAtMs: NOW };
  return { id: randomHex(16), name: randomHex(8), dataType: 'NUMERIC', ...values, ...changes };
}

async function find({ search }: Store, condition: Omit<Condition, 'of'> & { readonly of?: string }) {
  const ever = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  const found = await search.find({
    ...{ projectNumber, expiredBeforeMs: null, started: ever, updated: ever, sort: 'started_at', isAscending: true },
    filter: { conditions: [{ of: '', ...condition }], isNegated: false, text: '' },
    ...{ traceIds: null, after: null, limit: 10, countMax: null },
  });
  return found.traces.map(({ traceId }) => traceId);
}

/** A fresh store with the organization that the audit log names. */
export function withOrganization(open: OpenSubject, body: (store: Store, subject: Subject) => Promise<void>) {
  return withStore(open, async (store, subject) => {
    const plan = samplePlan();
    await store.installation.bootstrap({ ...plan, organization: { ...plan.organization, id: ORGANIZATION.id } });
    await body(store, subject);
  });
}

export function annotationConformance(open: OpenSubject): void {
  describe('annotations', () => {
    it(
      'are kept on a trace that exists, up to a number, and note it as changed',
      withOrganization(open, async (store) => {
        const traceId = await newTrace(store);
        const before = await store.traces.find(projectNumber, traceId);
        const first = annotationOf({ traceId, scores: { s: { value: 4, reason: 'r' } }, spanId: randomHex(16) });
        expect(await insert(store, first)).toBe('stored');
        expect(await store.annotations.find(projectNumber, first.id, null)).toEqual(first);
        expect(await store.annotations.find(projectNumber + 1, first.id, null)).toBeNull();
        const after = await store.traces.find(projectNumber, traceId);
        expect(after?.updatedAtMs).toBeGreaterThan(before?.updatedAtMs ?? Number.POSITIVE_INFINITY);
        expect(await insert(store, annotationOf({ traceId: randomHex(32) }))).toBe('no_trace');
        const more = await Promise.all([1, 2, 3].map(() => insert(store, annotationOf({ traceId }))));
        expect(more.toSorted()).toEqual(['limit_reached', 'stored', 'stored']);
        expect(await store.annotations.listOf(projectNumber, [traceId])).toHaveLength(3);
        expect(await store.annotations.countOf(projectNumber, [randomHex(32), traceId])).toEqual([
          { traceId, count: 3 },
        ]);
      }),
    );

    it(
      'are not there once their trace has expired',
      withOrganization(open, async (store) => {
        const traceId = await newTrace(store);
        const first = annotationOf({ traceId });
        await insert(store, first);
        const receivedAtMs = (await store.traces.find(projectNumber, traceId))?.insertedAtMs ?? 0;
        const range = { projectNumber, fromMs: 0, toMs: NOW * 2, isOfTraces: false, after: null, limit: 2 };
        for (const [expiredBeforeMs, found] of [
          [receivedAtMs, [first]],
          [receivedAtMs + 1, []],
        ] as const) {
          expect(await store.annotations.list({ ...range, expiredBeforeMs })).toEqual(found);
          expect(await store.annotations.find(projectNumber, first.id, expiredBeforeMs)).toEqual(found[0] ?? null);
        }
      }),
    );

    it(
      'MUST change only as they were read, and are listed by the time at which they were made',
      withOrganization(open, async (store) => {
        const traceId = await newTrace(store);
        const [first, second] = [annotationOf({ traceId }), annotationOf({ traceId, createdAtMs: NOW + 5 })];
        const third = annotationOf({ traceId, createdAtMs: NOW + 9, anchorKind: 'field', anchorPath: 'output' });
        for (const each of [first, second, third]) await insert(store, each);
        const changed = { ...first, comment: 'changed', isThumbsUp: false, updatedAtMs: NOW + 50 };
        const replace = (expectedUpdatedAtMs: number) =>
          store.annotations.replace({ ...writeOf(changed), expectedUpdatedAtMs });
        expect(await replace(NOW - 1)).toBe('stale');
        expect(await replace(NOW)).toBe('stored');
        expect(await replace(NOW)).toBe('stale');
        expect(await store.annotations.find(projectNumber, first.id, null)).toEqual(changed);
        const list = (fromMs: number, toMs: number, isOfTraces: boolean) =>
          store.annotations.list({
            projectNumber,
            expiredBeforeMs: null,
            fromMs,
            toMs,
            isOfTraces,
            after: null,
            limit: 2,
          });
        expect((await list(0, NOW * 2, false)).map(({ id }) => id)).toEqual([third.id, second.id]);
        expect((await list(0, NOW * 2, true)).map(({ id }) => id)).toEqual([second.id, first.id]);
        expect((await list(NOW, NOW + 4, false)).map(({ id }) => id)).toEqual([first.id]);
        const range = { projectNumber, expiredBeforeMs: null, fromMs: 0, toMs: NOW * 2, isOfTraces: false, limit: 1 };
        const walked = [];
        for (let after: Annotation | null = null; ; ) {
          const [next]: readonly Annotation[] = await store.annotations.list({ ...range, after });
          if (next === undefined) break;
          walked.push(next.id);
          after = next;
        }
        expect(walked).toEqual([third.id, second.id, first.id]);
        const change = { nowMs: NOW + 60, audited: audited() };
        expect(await store.annotations.remove(projectNumber, second.id, change)).toBe(true);
        expect(await store.annotations.remove(projectNumber, second.id, { ...change, audited: audited() })).toBe(false);
        await remove(store, traceId);
        expect(await store.annotations.find(projectNumber, first.id, null)).toBeNull();
      }),
    );

    it(
      'are found by filters, indexed or not',
      withOrganization(open, async (store) => {
        const [none, rated, named] = [await newTrace(store), await newTrace(store), await newTrace(store)];
        await keepUp(store);
        const score = scoreOf({ name: 'helpful' });
        const label = scoreOf({ name: 'label', dataType: 'TEXT' });
        for (const each of [score, label]) await store.annotationScores.insert(projectNumber, each, live());
        await insert(store, annotationOf({ traceId: rated, scores: { [score.id]: { value: 4 } } }));
        await insert(store, annotationOf({ traceId: named, scores: { [label.id]: { value: 'good' } } }));
        for (const _ of ['not indexed', 'indexed']) {
          const has = { name: 'annotations.hasAnnotation' } as const;
          expect((await find(store, { ...has, values: ['true'] })).toSorted()).toEqual([named, rated].toSorted());
          expect(await find(store, { ...has, values: ['false'] })).toEqual([none]);
          const of = (name: string, ...values: string[]) =>
            find(store, { name: 'annotations.score', of: name, values });
          expect(await of('helpful', '3', '5')).toEqual([rated]);
          expect(await of(score.id, '4', '')).toEqual([rated]);
          expect(await of('helpful', '5', '')).toEqual([]);
          expect(await of('label', 'good', 'bad')).toEqual([named]);
          expect(await of('label', 'bad')).toEqual([]);
          await keepUp(store);
        }
      }),
    );
  });

  describe('definitions of scores', () => {
    it(
      'MUST have a name of their own, be so many, and MUST NOT change their type while they are used',
      withOrganization(open, async (store, { read }) => {
        const { annotationScores: scores } = store;
        const score = scoreOf({ name: 'a' });
        expect(await scores.insert(projectNumber, score, live())).toBe('stored');
        expect(await scores.insert(projectNumber, scoreOf({ name: 'a' }), live())).toBe('name_taken');
        const other = scoreOf({ name: 'b', dataType: 'CATEGORICAL', options: ['x', 'y'], createdAtMs: NOW + 1 });
        expect(await scores.insert(projectNumber, other, live())).toBe('stored');
        expect(await scores.list(projectNumber)).toEqual([score, other]);
        const change = (expectedUpdatedAtMs: number) => ({ expectedUpdatedAtMs, audited: audited() });
        const asText = { ...score, dataType: 'TEXT', updatedAtMs: NOW + 10 } as const;
        expect(await scores.replace(projectNumber, { ...asText, name: 'b' }, change(NOW))).toBe('name_taken');
        expect(await scores.replace(projectNumber, asText, change(NOW + 1))).toBe('stale');
        const traceId = await newTrace(store);
        const given = annotationOf({ traceId, scores: { [score.id]: { value: 1 } } });
        const expected = [{ id: score.id, dataType: 'TEXT' }] as const;
        expect(await insert(store, given, { expected })).toBe('stale');
        expect(await insert(store, given, { expected: [{ id: score.id, dataType: 'NUMERIC' }] })).toBe('stored');
        expect(await scores.replace(projectNumber, asText, change(NOW))).toBe('in_use');
        const renamed = { ...score, name: 'c', updatedAtMs: NOW + 10 };
        expect(await scores.replace(projectNumber, renamed, change(NOW))).toBe('stored');
        const removal = { nowMs: NOW + 20, audited: audited() };
        expect(await scores.remove(projectNumber, score.id, removal)).toBe(true);
        expect(await scores.remove(projectNumber, score.id, { ...removal, audited: audited() })).toBe(false);
        expect(await scores.list(projectNumber)).toEqual([other]);
        // An annotation gives the first one; of another nothing is kept.
        const unused = scoreOf({});
        expect(await scores.insert(projectNumber, unused, live())).toBe('stored');
        expect(await scores.remove(projectNumber, unused.id, { ...removal, audited: audited() })).toBe(true);
        const kept = (await read('SELECT id FROM annotation_scores')).map(({ id }) => id);
        expect(kept.toSorted()).toEqual([score.id, other.id].toSorted());
        expect(await store.annotations.remove(projectNumber, given.id, { ...removal, audited: audited() })).toBe(true);
        expect(await scores.insert(projectNumber, scoreOf({ name: 'c' }), live())).toBe('stored');
        const left = (await read('SELECT id FROM annotation_scores')).map(({ id }) => id);
        expect(left).not.toContain(score.id);
        expect(await scores.insert(projectNumber, scoreOf({}), live())).toBe('stored');
        expect(await scores.insert(projectNumber, scoreOf({}), live())).toBe('limit_reached');
      }),
    );
  });

  describe('queues', () => {
    const queue = { id: 'queue_1', name: 'q', description: '', scoreIds: [], createdAtMs: NOW, updatedAtMs: NOW };

    const add = ({ annotationQueues }: Store, traceIds: readonly string[], more: Partial<NewItems> = {}) =>
      annotationQueues.addItems({
        ...{ projectNumber, queueId: queue.id, nowMs: NOW, expiredBeforeMs: null, itemsMax: 100 },
        traces: traceIds.map((traceId) => ({ itemId: randomHex(16), forms: [traceId] })),
        ...more,
      });

    const claim = ({ annotationQueues }: Store, reviewer: string, nowMs = NOW, isResuming = false) =>
      annotationQueues.claim({
        ...{ projectNumber, queueId: queue.id, reviewer, nowMs, untilMs: nowMs + 10 * MINUTE_MS, isResuming },
        expiredBeforeMs: null,
      });

    const counts = async ({ annotationQueues }: Store, nowMs = NOW) => {
      const found = await annotationQueues.find(projectNumber, queue.id, { nowMs, expiredBeforeMs: null });
      return found === null ? null : [found.counts.pending, found.counts.claimed, found.counts.done];
    };

    const opened = async (store: Store, traceCount: number) => {
      const stored = await store.annotationQueues.insert(projectNumber, queue, { liveMax: 2, audited: audited() });
      expect(stored).toBe('stored');
      const traceIds: string[] = [];
      for (let index = 0; index < traceCount; index += 1) traceIds.push(await newTrace(store));
      return traceIds;
    };

    it(
      'take each trace once, only those that there are, up to a number',
      withOrganization(open, async (store) => {
        const traceIds = await opened(store, 3);
        expect(await add(store, [...traceIds.slice(0, 2), randomHex(32)])).toEqual({ added: 2, known: 0, unknown: 1 });
        const twice = await Promise.all([add(store, traceIds), add(store, traceIds)]);
        expect(twice.map((each) => (each as { added: number }).added).toSorted()).toEqual([0, 1]);
        expect(await counts(store)).toEqual([3, 0, 0]);
        expect(await add(store, [await newTrace(store)], { itemsMax: 3 })).toBe('full');
        expect(await add(store, traceIds, { queueId: 'other' })).toBe('no_queue');
        await remove(store, traceIds[0] ?? '');
        expect(await counts(store)).toEqual([2, 0, 0]);
        expect(await store.annotationQueues.list(projectNumber, { nowMs: NOW, expiredBeforeMs: null })).toMatchObject([
          { queue, counts: { pending: 2 } },
        ]);
      }),
    );

    it(
      'MUST NOT give the same item to two reviewers, however many claim at once',
      withOrganization(open, async (store) => {
        const traceIds = await opened(store, 12);
        await add(store, traceIds);
        const claims = await Promise.all(Array.from({ length: 20 }, (_, index) => claim(store, `reviewer ${index}`)));
        const claimed = claims.filter((item): item is QueueItem => item !== null);
        expect(new Set(claimed.map(({ traceId }) => traceId))).toEqual(new Set(traceIds));
        expect(claimed).toHaveLength(12);
        expect(await counts(store)).toEqual([0, 12, 0]);
      }),
    );

    it(
      'get back what a reviewer leaves, and never what is done',
      withOrganization(open, async (store) => {
        const [traceId = ''] = await opened(store, 1);
        await add(store, [traceId]);
        const item = await claim(store, 'one');
        expect(await claim(store, 'two')).toBeNull();
        expect((await claim(store, 'one', NOW + 1, true))?.id).toBe(item?.id);
        const activity = { reviewer: 'one', untilMs: NOW + 30 * MINUTE_MS };
        await insert(store, annotationOf({ traceId }), { activity });
        expect(await claim(store, 'two', NOW + 20 * MINUTE_MS)).toBeNull();
        const late = NOW + 31 * MINUTE_MS;
        expect(await counts(store, late)).toEqual([1, 0, 0]);
        // Its claim has expired, though nobody took the item.
        const mine = {
          projectNumber,
          queueId: queue.id,
          itemId: item?.id ?? '',
          reviewer: 'one',
          nowMs: late,
          expiredBeforeMs: null,
        };
        for (const way of ['complete', 'release'] as const)
          expect(await store.annotationQueues.end(mine, way)).toBe('not_claimed');
        expect((await claim(store, 'two', late))?.id).toBe(item?.id);
        const named = { projectNumber, queueId: queue.id, itemId: item?.id ?? '', nowMs: late, expiredBeforeMs: null };
        const { end } = store.annotationQueues;
        expect(await end({ ...named, reviewer: 'one' }, 'complete')).toBe('not_claimed');
        expect(await end({ ...named, itemId: 'other', reviewer: 'two' }, 'complete')).toBe('not_found');
        expect(await end({ ...named, reviewer: 'two' }, 'release')).toMatchObject({ claimedBy: null });
        await claim(store, 'one', late);
        expect(await end({ ...named, reviewer: 'one' }, 'complete')).toMatchObject({ doneBy: 'one', doneAtMs: late });
        expect(await end({ ...named, reviewer: 'one' }, 'complete')).toMatchObject({ doneBy: 'one' });
        expect(await end({ ...named, reviewer: 'two' }, 'release')).toBe('not_claimed');
        expect(await counts(store, late)).toEqual([0, 0, 1]);
        expect(await claim(store, 'two', late + 60 * MINUTE_MS)).toBeNull();
        expect(await add(store, [traceId])).toMatchObject({ added: 0, known: 1 });
      }),
    );

    it(
      'take no more traces than may wait, whatever is done, and those that they have once more',
      withOrganization(open, async (store) => {
        const [first = '', second = ''] = await opened(store, 2);
        await add(store, [first]);
        const { id: itemId = '' } = (await claim(store, 'one')) ?? {};
        const named = { projectNumber, queueId: queue.id, itemId, reviewer: 'one', nowMs: NOW, expiredBeforeMs: null };
        await store.annotationQueues.end(named, 'complete');
        expect(await add(store, [second], { itemsMax: 1 })).toMatchObject({ added: 1 });
        expect(await add(store, [await newTrace(store)], { itemsMax: 1 })).toBe('full');
        expect(await add(store, [first, second], { itemsMax: 0 })).toMatchObject({ added: 0, known: 2 });
      }),
    );

    it(
      'MUST neither count nor give nor end items of traces that have expired',
      withOrganization(open, async (store) => {
        const { annotationQueues: queues } = store;
        const [traceId = ''] = await opened(store, 1);
        await add(store, [traceId]);
        const item = await claim(store, 'one');
        const receivedAtMs = (await store.traces.find(projectNumber, traceId))?.insertedAtMs ?? 0;
        const at = (expiredBeforeMs: number) => ({ nowMs: NOW + 1, expiredBeforeMs });
        const of = { projectNumber, queueId: queue.id, reviewer: 'one', untilMs: NOW + MINUTE_MS, isResuming: true };
        expect(await queues.claim({ ...of, ...at(receivedAtMs + 1) })).toBeNull();
        expect((await queues.claim({ ...of, ...at(receivedAtMs) }))?.id).toBe(item?.id);
        const claimed = async (expiredBeforeMs: number) => [
          (await queues.find(projectNumber, queue.id, at(expiredBeforeMs)))?.counts.claimed,
          ...(await queues.list(projectNumber, at(expiredBeforeMs))).map(({ counts: { claimed } }) => claimed),
        ];
        expect([await claimed(receivedAtMs + 1), await claimed(receivedAtMs)]).toEqual([
          ...[
            [0, 0],
            [1, 1],
          ],
        ]);
        const named = { projectNumber, queueId: queue.id, itemId: item?.id ?? '', reviewer: 'one' };
        expect(await queues.end({ ...named, ...at(receivedAtMs + 1) }, 'release')).toBe('not_found');
        expect(await queues.end({ ...named, ...at(receivedAtMs) }, 'release')).toMatchObject({ claimedBy: null });
        const late = { ...of, isResuming: false };
        expect(await queues.claim({ ...late, ...at(receivedAtMs + 1) })).toBeNull();
      }),
    );

    it(
      'MUST have a name of their own and be so many, and go with their items',
      withOrganization(open, async (store) => {
        const { annotationQueues: queues } = store;
        const [traceId = ''] = await opened(store, 1);
        await add(store, [traceId]);
        const two = { liveMax: 2, audited: audited() };
        expect(await queues.insert(projectNumber, { ...queue, id: 'queue_2' }, two)).toBe('name_taken');
        const second = { ...queue, id: 'queue_2', name: 'r' };
        expect(await queues.insert(projectNumber, second, two)).toBe('stored');
        const third = { ...queue, id: 'queue_3', name: 's' };
        expect(await queues.insert(projectNumber, third, { ...two, audited: audited() })).toBe('limit_reached');
        const change = (expectedUpdatedAtMs: number) => ({ expectedUpdatedAtMs, audited: audited() });
        expect(await queues.replace(projectNumber, { ...second, name: 'q' }, change(NOW))).toBe('name_taken');
        expect(await queues.replace(projectNumber, second, change(NOW - 1))).toBe('stale');
        const changed = { ...second, scoreIds: ['x'], updatedAtMs: NOW + 1 };
        expect(await queues.replace(projectNumber, changed, change(NOW))).toBe('stored');
        expect((await queues.find(projectNumber, 'queue_2', { nowMs: NOW, expiredBeforeMs: null }))?.queue).toEqual(
          changed,
        );
        expect(await queues.remove(projectNumber, queue.id, audited())).toBe(true);
        expect(await queues.remove(projectNumber, queue.id, audited())).toBe(false);
        expect(await counts(store)).toBeNull();
        expect(await claim(store, 'one')).toBeNull();
      }),
    );
  });
}

export function live() {
  return { liveMax: 3, audited: audited() };
}
