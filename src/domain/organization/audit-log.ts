/** Lists the audit log of an organization. */

import type { CursorCodec } from '../cursor.ts';
import { bindFilter, type CursorPageRequest, readCursorPage } from '../management/listing.ts';
import type { AuditListing, AuditRecord, ManagementStore } from '../management/management.ts';
import type { ManagementCall } from '../management/management-call.ts';
import { termStartMs } from '../retention-terms.ts';

type AuditLogDeps = {
  readonly store: ManagementStore;
  readonly cursors: CursorCodec;
  /** Retention of entries; null: for ever. */
  readonly retentionDays: number | null;
};

/** Null: any. */
export type AuditFilter = Omit<AuditListing, 'after' | 'limit'>;

export type AuditLog = ReturnType<typeof createAuditLog>;

export function createAuditLog({ store, cursors, retentionDays }: AuditLogDeps) {
  return {
    /** Newest first. Throws invalid_cursor. */
    async list({ caller, nowMs }: ManagementCall, filter: AuditFilter, request: CursorPageRequest) {
      const organizationId = caller.organization.id;
      const { fromMs, toMs, action, actorUserId, actorKeyId, targetId, outcome } = filter;
      const filters = [fromMs, toMs, action, actorUserId, actorKeyId, targetId, outcome];
      const binding = ['audit-log', organizationId, ...filters.map(bindFilter)];
      const shown = { ...filter, fromMs: laterOf(fromMs, termStartMs(retentionDays, nowMs)) };
      return await readCursorPage({ cursors, binding, positionOf: (entry: AuditRecord) => entry }, request, (range) =>
        store.audit(organizationId, { ...shown, ...range }),
      );
    },
  };
}

/** Null: unbounded. */
function laterOf(oneMs: number | null, otherMs: number | null): number | null {
  return oneMs === null || otherMs === null ? (oneMs ?? otherMs) : Math.max(oneMs, otherMs);
}
