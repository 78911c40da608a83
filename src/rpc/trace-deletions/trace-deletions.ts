/** Deletions of many traces: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type TraceDeletionSchema,
  type TraceDeletionService,
  TraceDeletionStatus,
} from '../../../gen/spandrel/v1/trace_deletions_pb.js';
import type { TraceDeletion } from '../../domain/traces/deletion/trace-deletion.ts';
import type { TraceDeletions } from '../../domain/traces/deletion/trace-deletions.ts';
import type { TraceSearches } from '../../domain/traces/search/trace-search.ts';
import { numbersOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { callOf, toConditions } from '../traces/trace-search.ts';

export type TraceDeletionRpcDeps = {
  readonly deletions: TraceDeletions;
  readonly searches: Pick<TraceSearches, 'problems'>;
};

const LIST_SIZE_DEFAULT = 50;

export function createTraceDeletionRpc({
  deletions,
  searches,
}: TraceDeletionRpcDeps): Implementation<typeof TraceDeletionService> {
  return {
    previewTraceDeletion: {
      check: (request) => searches.problems(toConditions(request)),
      handle: async (request, context) => {
        const { count, isExact } = await deletions.preview(toConditions(request), callOf(context));
        return { tracesFound: BigInt(count), isFoundExactly: isExact };
      },
    },
    createTraceDeletion: {
      check: (request) => searches.problems(toConditions(request)),
      handle: async (request, context) => ({
        deletion: toMessage(await deletions.start(actorCallOf(context), toConditions(request))),
      }),
    },
    getTraceDeletion: async ({ traceDeletionId }, context) => ({
      deletion: toMessage(await deletions.get(projectOf(context), traceDeletionId)),
    }),
    listTraceDeletions: async ({ pageSize }, context) => ({
      deletions: (await deletions.list(projectOf(context), pageSize ?? LIST_SIZE_DEFAULT)).map(toMessage),
    }),
    cancelTraceDeletion: async ({ traceDeletionId }, context) => ({
      deletion: toMessage(await deletions.cancel(projectOf(context), traceDeletionId, context.nowMs)),
    }),
  };
}

const STATUSES = numbersOf(TraceDeletionStatus);

function toMessage(deletion: TraceDeletion): MessageInitShape<typeof TraceDeletionSchema> {
  const { status, tracesFound, deleted } = deletion;
  return {
    ...fieldsOf(deletion),
    status: STATUSES[status],
    tracesFound: tracesFound === null ? undefined : BigInt(tracesFound),
    deleted: BigInt(deleted),
  };
}
