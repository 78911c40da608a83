/** Reading what was done in an organization, and what was refused. */

import type { CursorCodec } from './cursor.ts';
import type { Reason } from './fault.ts';
import { bindFilter, type CursorPage, type CursorWish, cutPage, limitOf, openCursor } from './listing.ts';
import type { AuditListing, AuditRecord, ManagementStore } from './management.ts';
import type { ManagementCall } from './management-call.ts';
import { termStartMs } from './page.ts';

export type AuditLogDeps = {
  readonly store: ManagementStore;
  readonly cursors: CursorCodec;
  /** The term of entries; null: they are kept for ever. */
  readonly retentionDays: number | null;
};

/** Null: any. */
export type AuditFilter = Omit<AuditListing, 'after' | 'limit'>;

export type AuditLog = {
  /** Newest first. Throws invalid_cursor. */
  list(call: ManagementCall, filter: AuditFilter, wish: CursorWish): Promise<CursorPage<AuditRecord>>;
};

export function createAuditLog({ store, cursors, retentionDays }: AuditLogDeps): AuditLog {
  return {
    async list({ caller, nowMs }, filter, wish) {
      const organizationId = caller.organization.id;
      const { fromMs, toMs, action, actorUserId, actorKeyId, targetId, outcome } = filter;
      const filters = [fromMs, toMs, action, actorUserId, actorKeyId, targetId, outcome];
      const book = { cursors, binding: ['audit-log', organizationId, ...filters.map(bindFilter)] };
      const limit = limitOf(wish);
      const after = openCursor(book, wish.cursor);
      // One more than asked tells whether anything remains.
      const found = await store.audit(organizationId, {
        ...filter,
        fromMs: laterOf(fromMs, termStartMs(retentionDays, nowMs)),
        after,
        limit: limit + 1,
      });
      return cutPage(found, limit, { ...book, placeOf: (entry) => entry });
    },
  };
}

/** Null: open. */
function laterOf(oneMs: number | null, otherMs: number | null): number | null {
  return oneMs === null || otherMs === null ? (oneMs ?? otherMs) : Math.max(oneMs, otherMs);
}

/** What is wrong with a range whose ends are valid; null: open. */
export function auditRangeProblems(fromMs: number | null, toMs: number | null): readonly Reason[] {
  if (fromMs === null || toMs === null || fromMs <= toMs) return [];
  return [{ field: '(root)', type: 'custom', message: 'from must not be later than to' }];
}
