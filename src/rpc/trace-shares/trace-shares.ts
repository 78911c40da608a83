/** Links to traces: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { TraceShareSchema, TraceShareService } from '../../../gen/spandrel/v1/trace_shares_pb.js';
import type { TraceShare } from '../../domain/traces/sharing/trace-share.ts';
import type { TraceShares } from '../../domain/traces/sharing/trace-shares.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { traceWithSpans } from '../traces/trace-message.ts';

export type TraceShareRpcDeps = {
  readonly shares: TraceShares;
  /** The page of the console that shows the trace of a link. */
  readonly urlOf: (token: string) => string;
};

export function createTraceShareRpc({ shares, urlOf }: TraceShareRpcDeps): Implementation<typeof TraceShareService> {
  return {
    async createTraceShare({ traceId, expiresAt }, context) {
      const asked = { traceId, expiresAtMs: expiresAt === undefined ? null : timestampMs(expiresAt) };
      const { share, token } = await shares.create(actorCallOf(context), asked);
      return { share: toMessage(share), token, url: urlOf(token) };
    },
    async listTraceShares({ traceId }, context) {
      const of = { traceId: traceId ?? null, nowMs: context.nowMs };
      return { shares: (await shares.list(projectOf(context), of)).map(toMessage) };
    },
    async revokeTraceShare({ traceShareId }, context) {
      await shares.revoke(actorCallOf(context), traceShareId);
      return {};
    },
    async getSharedTrace({ token, pageSize: spansLimit = null, pageToken: spansCursor }, context) {
      const { nowMs, countResponseBytes } = context;
      const { project, view } = await shares.open({ token, spansLimit, spansCursor, nowMs, countResponseBytes });
      // What people said of it is not for whoever has the link.
      const shown = { ...view, events: [], annotationCount: 0 };
      return { trace: await traceWithSpans(shown, project, () => urlOf(token)) };
    },
  };
}

function toMessage(share: TraceShare): MessageInitShape<typeof TraceShareSchema> {
  return fieldsOf(share);
}
