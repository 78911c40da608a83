/** AnnotationQueueService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type AnnotationQueueItemSchema,
  AnnotationQueueItemStatus,
  AnnotationQueueSchema,
  type AnnotationQueueService,
} from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import type { CountedQueue, ItemEnd, QueueItem } from '../../domain/annotations/queue.ts';
import type { ReviewQueues } from '../../domain/annotations/queues.ts';
import { toTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';
import { updateProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { sentFields } from '../update-mask.ts';

type NamedItem = { readonly id: string; readonly itemId: string };

export function createAnnotationQueueRpc({
  queues,
}: {
  readonly queues: ReviewQueues;
}): Implementation<typeof AnnotationQueueService> {
  const atOf = (context: Context) => ({ project: projectOf(context), nowMs: context.nowMs });
  const end = async ({ id: queueId, itemId }: NamedItem, context: Context, how: ItemEnd) => ({
    item: toItem(await queues.end(actorCallOf(context), { queueId, itemId }, how), context.nowMs),
  });
  return {
    async listAnnotationQueues(_request, context) {
      const found = await queues.list(atOf(context));
      context.countResponseBytes(found.reduce((bytes, each) => bytes + bytesOf(each), 0));
      return { queues: found.map(toMessage) };
    },
    createAnnotationQueue: async ({ name, description, scoreIds }, context) => ({
      queue: toMessage(await queues.create(actorCallOf(context), { name, description, scoreIds })),
    }),
    getAnnotationQueue: async ({ id }, context) => ({ queue: toMessage(await queues.get(atOf(context), id)) }),
    updateAnnotationQueue: {
      check: (request, input) => updateProblems(request, input).filter(({ field }) => field !== 'description'),
      async handle({ id, queue: resource, updateMask: mask }, context) {
        const names = ['name', 'description', 'scoreIds'] as const;
        const changes = sentFields(AnnotationQueueSchema, { resource, mask }, names);
        return { queue: toMessage(await queues.update(actorCallOf(context), id, changes)) };
      },
    },
    async deleteAnnotationQueue({ id }, context) {
      await queues.remove(actorCallOf(context), id);
      return {};
    },
    addAnnotationQueueItems: async ({ id, traceIds }, context) => await queues.addItems(atOf(context), id, traceIds),
    claimAnnotationQueueItem: async ({ id, resume }, context) => ({
      item: toItem(await queues.claim(actorCallOf(context), id, resume), context.nowMs),
    }),
    completeAnnotationQueueItem: (request, context) => end(request, context, 'complete'),
    releaseAnnotationQueueItem: (request, context) => end(request, context, 'release'),
  };
}

const BYTES_BESIDE_TEXTS = 500;
const BYTES_OF_SCORE_ID = 40;

function bytesOf({ queue: { name, description, scoreIds } }: CountedQueue): number {
  return BYTES_BESIDE_TEXTS + name.length + description.length + BYTES_OF_SCORE_ID * scoreIds.length;
}

function toMessage({ queue, counts }: CountedQueue): MessageInitShape<typeof AnnotationQueueSchema> {
  const { pending, claimed, done } = counts;
  return { ...fieldsOf(queue), pending: BigInt(pending), claimed: BigInt(claimed), done: BigInt(done) };
}

function toItem(item: QueueItem, nowMs: number): MessageInitShape<typeof AnnotationQueueItemSchema> {
  const { id, queueId, traceId, addedAtMs, claimedUntilMs, doneAtMs } = item;
  const isHeld = doneAtMs === null && claimedUntilMs > nowMs;
  return {
    ...{ id, queueId, traceId },
    status: AnnotationQueueItemStatus[doneAtMs !== null ? 'DONE' : isHeld ? 'CLAIMED' : 'PENDING'],
    addedAt: toTimestamp(addedAtMs),
    claimedUntil: isHeld ? toTimestamp(claimedUntilMs) : undefined,
    doneAt: toTimestamp(doneAtMs),
  };
}
