/** Reviews traces in queues: reviewers claim one after the other, annotate it, and complete it. */

import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault, type Reason, validationFault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { auditRecord, changedFields } from '../management/audit.ts';
import { countCodePoints, customReason, lengthReason, refuseProblems, typeReason } from '../reasons.ts';
import { nextUpdateMs, normalizeName, retryStale } from '../resources.ts';
import { termStartMs, traceTermDays } from '../retention-terms.ts';
import { hasMoreBytesThan } from '../text-limits.ts';
import { hasIdLength, lookupForms } from '../traces/trace-ids.ts';
import type { ScoreStore } from './annotation.ts';
import type { AnnotationCall } from './annotations.ts';
import type { CountedQueue, ItemEnd, ItemsAdded, QueueItem, QueueStore, ReadAt, ReviewQueue } from './queue.ts';
import { CLAIM_MS, reviewerOf } from './reviewer.ts';

/** Undefined: not sent; null: no value. */
export type QueueDraft = {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly scoreIds?: readonly string[] | undefined;
};

type QueueDeps = {
  readonly store: QueueStore;
  readonly scores: Pick<ScoreStore, 'list'>;
  readonly random: RandomBytes;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

const LIVE_MAX = 1_000;
const ITEMS_MAX = 10_000;
const NAME_CHARACTERS_MAX = 128;
const DESCRIPTION_MAX_BYTES = 16 * 1024;
const SCORES_MAX = 50;
const REFUSAL = 'Others keep changing this queue; try again.';
const NO_ITEMS = { pending: 0, claimed: 0, done: 0 };

const FIELDS = { name: 'name', description: 'description', scoreIds: 'scoreIds' } as const;

export type ReviewQueues = ReturnType<typeof createReviewQueues>;

export function createReviewQueues({ store, scores, random, traceDefaultDays }: QueueDeps) {
  const readAt = ({ project, nowMs }: Pick<AnnotationCall, 'project' | 'nowMs'>): ReadAt => ({
    nowMs,
    expiredBeforeMs: termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs),
  });

  async function find(project: Project, id: string, nowMs: number): Promise<CountedQueue> {
    const at = readAt({ project, nowMs });
    const found = isPossibleId(id) ? await store.find(project.number, id, at) : null;
    if (found === null) throw notFound();
    return found;
  }

  /** A queue may keep a score that was deleted since. */
  async function checkScores(project: Project, now: ReviewQueue, before: Pick<ReviewQueue, 'scoreIds'>): Promise<void> {
    const scoreIds = now.scoreIds.filter((id) => !before.scoreIds.includes(id));
    if (scoreIds.length === 0) return;
    const defined = new Set((await scores.list(project.number)).map(({ id }) => id));
    if (scoreIds.every((id) => defined.has(id))) return;
    refuseProblems([customReason('scoreIds', 'scoreIds must name scores that are defined')]);
  }

  return {
    /** The oldest first. */
    list: (call: Pick<AnnotationCall, 'project' | 'nowMs'>) => store.list(call.project.number, readAt(call)),

    /** Throws annotation_queue_not_found. */
    get: ({ project, nowMs }: Pick<AnnotationCall, 'project' | 'nowMs'>, id: string) => find(project, id, nowMs),

    /** Throws validation_error, annotation_queue_name_taken and annotation_queue_limit_reached. */
    async create({ project, actor, nowMs }: AnnotationCall, draft: QueueDraft): Promise<CountedQueue> {
      if (draft.name == null) throw validationFault('json', [typeReason('name', 'string', 'undefined')]);
      const id = newId('queue', random);
      const queue = merge({ id, ...EMPTY, createdAtMs: nowMs, updatedAtMs: nowMs }, draft);
      refuseProblems(queueProblems(queue));
      await checkScores(project, queue, EMPTY);
      const audited = auditRecord(actor, { action: 'annotationQueue.create', targetId: id }, { nowMs, random });
      const outcome = await store.insert(project.number, queue, { liveMax: LIVE_MAX, audited });
      if (outcome === 'name_taken') throw nameTaken(queue);
      if (outcome === 'limit_reached') {
        throw new Fault('annotation_queue_limit_reached', `A project holds at most ${LIVE_MAX} queues.`);
      }
      return { queue, counts: NO_ITEMS };
    },

    /** Throws validation_error, annotation_queue_not_found and annotation_queue_name_taken. */
    async update({ project, actor, nowMs }: AnnotationCall, id: string, draft: QueueDraft): Promise<CountedQueue> {
      return await retryStale(REFUSAL, async () => {
        const known = await find(project, id, nowMs);
        const merged = merge(known.queue, draft);
        refuseProblems(queueProblems(merged));
        await checkScores(project, merged, known.queue);
        const fields = changedFields(FIELDS, known.queue, merged);
        if (fields.length === 0) return known;
        const queue = { ...merged, updatedAtMs: nextUpdateMs(known.queue, nowMs) };
        const outcome = await store.replace(project.number, queue, {
          expectedUpdatedAtMs: known.queue.updatedAtMs,
          audited: auditRecord(actor, { action: 'annotationQueue.update', targetId: id, fields }, { nowMs, random }),
        });
        if (outcome === 'name_taken') throw nameTaken(queue);
        return outcome === 'stored' ? { ...known, queue } : outcome;
      });
    },

    /** Throws annotation_queue_not_found. */
    async remove({ project, actor, nowMs }: AnnotationCall, id: string): Promise<void> {
      const audited = auditRecord(actor, { action: 'annotationQueue.delete', targetId: id }, { nowMs, random });
      if (!isPossibleId(id) || !(await store.remove(project.number, id, audited))) throw notFound();
    },

    /**
     * Adds traces to a queue, each once, however often it is added. Throws annotation_queue_not_found and
     * annotation_queue_full.
     */
    async addItems(
      { project, nowMs }: Pick<AnnotationCall, 'project' | 'nowMs'>,
      queueId: string,
      traceIds: readonly string[],
    ): Promise<ItemsAdded> {
      if (!isPossibleId(queueId)) throw notFound();
      // A trace counts once, in whichever spelling of its id.
      const sent = new Map(traceIds.map((id) => [formsOf(id)[0] ?? id, formsOf(id)]));
      const traces = [...sent.values()].map((forms) => ({ itemId: newId('item', random), forms }));
      const added = await store.addItems({
        ...{ projectNumber: project.number, queueId, traces, itemsMax: ITEMS_MAX },
        ...readAt({ project, nowMs }),
      });
      if (added === 'no_queue') throw notFound();
      if (added === 'full')
        throw new Fault('annotation_queue_full', `At most ${ITEMS_MAX} traces of a queue may wait for reviewers.`);
      return added;
    },

    /** The next item. Throws annotation_queue_not_found and annotation_queue_empty. */
    async claim(call: AnnotationCall, queueId: string, isResuming: boolean): Promise<QueueItem> {
      const { project, actor, nowMs } = call;
      await find(project, queueId, nowMs);
      const item = await store.claim({
        ...{ projectNumber: project.number, queueId, untilMs: nowMs + CLAIM_MS, isResuming },
        ...readAt(call),
        reviewer: reviewerOf(actor),
      });
      if (item === null) throw new Fault('annotation_queue_empty', 'No trace of this queue waits for a reviewer.');
      return item;
    },

    /** Throws annotation_queue_item_not_found and annotation_queue_item_not_claimed. */
    async end(call: AnnotationCall, { queueId, itemId }: EndedItem, end: ItemEnd): Promise<QueueItem> {
      const { project, actor } = call;
      const isPossible = isPossibleId(queueId) && isPossibleId(itemId);
      const named = { projectNumber: project.number, queueId, itemId, reviewer: reviewerOf(actor) };
      const item = { ...named, ...readAt(call) };
      const outcome = isPossible ? await store.end(item, end) : 'not_found';
      if (outcome === 'not_found') throw new Fault('annotation_queue_item_not_found', 'The queue has no such item.');
      if (outcome !== 'not_claimed') return outcome;
      throw new Fault('annotation_queue_item_not_claimed', 'You do not hold this item: claim the next one.');
    },
  };
}

type EndedItem = { readonly queueId: string; readonly itemId: string };

const EMPTY = { name: '', description: '', scoreIds: [] };

function merge(known: ReviewQueue, draft: QueueDraft): ReviewQueue {
  return {
    ...known,
    name: normalizeName(draft.name ?? known.name),
    description: draft.description === undefined ? known.description : (draft.description ?? ''),
    scoreIds: draft.scoreIds === undefined ? known.scoreIds : [...new Set(draft.scoreIds)],
  };
}

function queueProblems({ name, description, scoreIds }: ReviewQueue): readonly Reason[] {
  const length = countCodePoints(name);
  const isNamed = length > 0 && length <= NAME_CHARACTERS_MAX && !name.includes('\0');
  const isDescribed = !hasMoreBytesThan(description, DESCRIPTION_MAX_BYTES) && !description.includes('\0');
  return [
    ...(isNamed ? [] : [lengthReason('name', `1 to ${NAME_CHARACTERS_MAX} characters`)]),
    ...(isDescribed ? [] : [lengthReason('description', `at most ${DESCRIPTION_MAX_BYTES} bytes`)]),
    ...(scoreIds.length > SCORES_MAX ? [lengthReason('scoreIds', `at most ${SCORES_MAX} items`)] : []),
  ];
}

function formsOf(sent: string): readonly string[] {
  if (!hasIdLength(sent) || sent.includes('\0')) return [];
  const { exact, padded } = lookupForms(sent);
  return padded === null ? [exact] : [exact, padded];
}

function nameTaken({ name }: ReviewQueue): Fault {
  return new Fault('annotation_queue_name_taken', `The project already has a queue of the name ${name}.`);
}

function notFound(): Fault {
  return new Fault('annotation_queue_not_found', 'The project has no such queue.');
}
