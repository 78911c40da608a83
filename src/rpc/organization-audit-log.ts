/** AuditLogService: messages to and from what the rules work with. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type AuditEntrySchema,
  type AuditLogService,
  type ListAuditLogRequest,
  ListAuditLogRequestSchema,
} from '../../gen/spandrel/v1/organization_pb.js';
import { type AuditFilter, type AuditLog, auditRangeProblems } from '../domain/audit-log.ts';
import type { AuditRecord } from '../domain/management.ts';
import { managementCallOf } from './management-call.ts';
import { nulProblems } from './management-problems.ts';
import type { Implementation } from './method.ts';
import { cursorWish } from './organization-members.ts';

export function createAuditLogRpc(deps: { readonly auditLog: AuditLog }): Implementation<typeof AuditLogService> {
  return {
    listAuditLog: {
      check(request) {
        const { fromMs, toMs } = filterOf(request);
        return [...nulProblems(ListAuditLogRequestSchema, request), ...auditRangeProblems(fromMs, toMs)];
      },
      async handle(request, context) {
        const page = await deps.auditLog.list(managementCallOf(context), filterOf(request), cursorWish(request));
        return { data: page.items.map(toMessage), nextCursor: page.nextCursor ?? undefined };
      },
    },
  };
}

function filterOf(request: ListAuditLogRequest): AuditFilter {
  const { from, to, action, actorUserId, actorKeyId, targetId, outcome } = request;
  return {
    fromMs: toInstant(from),
    toMs: toInstant(to),
    action: action ?? null,
    actorUserId: actorUserId ?? null,
    actorKeyId: actorKeyId ?? null,
    targetId: targetId ?? null,
    outcome: outcome ?? null,
  };
}

/** No calendar reaches farther, and no store counts farther. */
const INSTANT_MAX_MS = 8_640_000_000_000_000;

function toInstant(atMs: bigint | undefined): number | null {
  return atMs === undefined ? null : Math.max(-INSTANT_MAX_MS, Math.min(INSTANT_MAX_MS, Number(atMs)));
}

function toMessage(entry: AuditRecord): MessageInitShape<typeof AuditEntrySchema> {
  const { createdAtMs, organizationId: _, actorUserId, actorKeyId, targetId, code, fields, ...plain } = entry;
  const { ip, userAgent, requestId, traceId, ...rest } = plain;
  return {
    ...rest,
    createdAt: timestampFromMs(createdAtMs),
    actorUserId: actorUserId ?? undefined,
    actorKeyId: actorKeyId ?? undefined,
    targetId: targetId ?? undefined,
    code: code ?? undefined,
    fields: [...fields],
    ip: ip ?? undefined,
    userAgent: userAgent ?? undefined,
    requestId: requestId ?? undefined,
    traceId: traceId ?? undefined,
  };
}
