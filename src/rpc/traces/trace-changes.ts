/** Changing and removing traces: message <-> domain values. */

import type { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { TraceChanges } from '../../domain/traces/trace-changes.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'updateTraceMetadata' | 'deleteTrace'>;

export function createTraceChangeRpc(changes: TraceChanges): Rpcs {
  return {
    updateTraceMetadata: {
      check: ({ metadataJson }) => (metadataJson === undefined ? [] : changes.patchProblems(metadataJson)),
      handle: async ({ traceId, metadataJson = '' }, context) =>
        await changes.patchMetadata(projectOf(context), { traceId, metadataJson }, context.nowMs),
    },
    deleteTrace: {
      handle: async ({ traceId }, context) => {
        await changes.remove(projectOf(context), traceId, context.nowMs);
        return {};
      },
    },
  };
}
