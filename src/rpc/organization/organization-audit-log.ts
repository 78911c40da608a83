/** AuditLogService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  ActorKind,
  type AuditEntrySchema,
  type AuditLogService,
  AuditOutcome,
  type ListAuditLogRequest,
} from '../../../gen/spandrel/v1/organization_pb.js';
import type { AuditRecord } from '../../domain/management/management.ts';
import type { AuditFilter, AuditLog } from '../../domain/organization/audit-log.ts';
import { rangeProblems } from '../../domain/reasons.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { numbersOf } from '../enums.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';
import { managementCallOf } from '../management-call.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';

export function createAuditLogRpc(deps: { readonly auditLog: AuditLog }): Implementation<typeof AuditLogService> {
  return {
    listAuditLog: {
      check(request, input) {
        const { fromMs, toMs } = filterOf(request);
        return [...nulProblems(request, input), ...rangeProblems(fromMs, toMs)];
      },
      async handle(request, context) {
        const page = await deps.auditLog.list(managementCallOf(context), filterOf(request), cursorRequest(request));
        return pageMessage(page, toMessage);
      },
    },
  };
}

function filterOf(request: ListAuditLogRequest): AuditFilter {
  const { action = null, actorUserId = null, actorKeyId = null, targetId = null, outcome = null } = request;
  const range = { fromMs: toInstant(request.createdFrom), toMs: toInstant(request.createdTo) };
  return { ...range, action, actorUserId, actorKeyId, targetId, outcome };
}

/** The highest instant of both stores. */
const INSTANT_MAX_MS = 8_640_000_000_000_000;

function toInstant(at: Timestamp | undefined): number | null {
  return at === undefined ? null : Math.min(INSTANT_MAX_MS, msOfTimestamp(at));
}

const ACTOR_KINDS = numbersOf(ActorKind);
const OUTCOMES = numbersOf(AuditOutcome);

function toMessage(entry: AuditRecord): MessageInitShape<typeof AuditEntrySchema> {
  return { ...fieldsOf(entry), actorKind: ACTOR_KINDS[entry.actorKind], outcome: OUTCOMES[entry.outcome] };
}
