/** Lists the audit log of an organization. */

import type { CursorCodec } from '../cursor.ts';
import {
  bindFilter,
  type CursorPage,
  type CursorPageRequest,
  limitOf,
  openCursor,
  toCursorPage,
} from '../management/listing.ts';
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

export type AuditLog = {
  /** Newest first. Throws invalid_cursor. */
  list(call: ManagementCall, filter: AuditFilter, request: CursorPageRequest): Promise<CursorPage<AuditRecord>>;
};

export function createAuditLog({ store, cursors, retentionDays }: AuditLogDeps): AuditLog {
  return {
    async list({ caller, nowMs }, filter, request) {
      const organizationId = caller.organization.id;
      const { fromMs, toMs, action, actorUserId, actorKeyId, targetId, outcome } = filter;
      const filters = [fromMs, toMs, action, actorUserId, actorKeyId, targetId, outcome];
      const listScope = { cursors, binding: ['audit-log', organizationId, ...filters.map(bindFilter)] };
      const limit = limitOf(request);
      const after = openCursor(listScope, request.cursor);
      // One extra record shows whether more remain.
      const found = await store.audit(organizationId, {
        ...filter,
        fromMs: laterOf(fromMs, termStartMs(retentionDays, nowMs)),
        after,
        limit: limit + 1,
      });
      return toCursorPage(found, limit, { ...listScope, positionOf: (entry) => entry });
    },
  };
}

/** Null: unbounded. */
function laterOf(oneMs: number | null, otherMs: number | null): number | null {
  return oneMs === null || otherMs === null ? (oneMs ?? otherMs) : Math.max(oneMs, otherMs);
}
