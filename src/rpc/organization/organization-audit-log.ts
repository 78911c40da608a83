/** AuditLogService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  ActorKind,
  type AuditEntrySchema,
  type AuditLogService,
  AuditOutcome,
  type ListAuditLogRequest,
  ListAuditLogRequestSchema,
} from '../../../gen/spandrel/v1/organization_pb.js';
import type { AuditRecord } from '../../domain/management/management.ts';
import type { AuditFilter, AuditLog } from '../../domain/organization/audit-log.ts';
import { rangeProblems } from '../../domain/reasons.ts';
import { cursorRequest } from '../cursor-page.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { managementCallOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';

export function createAuditLogRpc(deps: { readonly auditLog: AuditLog }): Implementation<typeof AuditLogService> {
  return {
    listAuditLog: {
      check(request) {
        const { fromMs, toMs } = filterOf(request);
        return [...nulProblems(ListAuditLogRequestSchema, request), ...rangeProblems(fromMs, toMs)];
      },
      async handle(request, context) {
        const page = await deps.auditLog.list(managementCallOf(context), filterOf(request), cursorRequest(request));
        return { data: page.items.map(toMessage), nextPageToken: page.nextCursor ?? undefined };
      },
    },
  };
}

function filterOf(request: ListAuditLogRequest): AuditFilter {
  const { createdFrom, createdTo, action, actorUserId, actorKeyId, targetId, outcome } = request;
  return {
    fromMs: toInstant(createdFrom),
    toMs: toInstant(createdTo),
    action: action ?? null,
    actorUserId: actorUserId ?? null,
    actorKeyId: actorKeyId ?? null,
    targetId: targetId ?? null,
    outcome: outcome ?? null,
  };
}

/** The highest instant of both stores. */
const INSTANT_MAX_MS = 8_640_000_000_000_000;

function toInstant(at: Timestamp | undefined): number | null {
  return at === undefined ? null : Math.min(INSTANT_MAX_MS, msOfTimestamp(at));
}

const actorKindNumbers: Readonly<Record<AuditRecord['actorKind'], ActorKind>> = {
  personal_key: ActorKind.PERSONAL_KEY,
  service_key: ActorKind.SERVICE_KEY,
  project_key: ActorKind.PROJECT_KEY,
  bootstrap: ActorKind.BOOTSTRAP,
  cli: ActorKind.CLI,
};

const outcomeNumbers: Readonly<Record<AuditRecord['outcome'], AuditOutcome>> = {
  success: AuditOutcome.SUCCESS,
  refused: AuditOutcome.REFUSED,
};

function toMessage(entry: AuditRecord): MessageInitShape<typeof AuditEntrySchema> {
  const { createdAtMs, organizationId: _, actorUserId, actorKeyId, targetId, code, fields, ...plain } = entry;
  const { actorKind, outcome, ip, userAgent, requestId, traceId, ...rest } = plain;
  return {
    ...rest,
    createdAt: timestampFromMs(createdAtMs),
    actorKind: actorKindNumbers[actorKind],
    outcome: outcomeNumbers[outcome],
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
