/** Links to traces. */

import type { TraceShareStore } from '../../domain/traces/sharing/trace-share.ts';
import { AuditEntry } from '../entities/audit.ts';
import { TraceShareRow } from '../entities/traces.ts';
import { lockProject } from './slugs.ts';
import { rowReads, type Units } from './units.ts';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

export function createShareStore({ read, transact }: Units): TraceShareStore {
  const { one, all } = rowReads(read);
  return {
    insert: (share, liveMax, audited) =>
      transact(async ({ em }) => {
        const { projectId, createdAtMs } = share;
        await lockProject(em, projectId);
        await em.nativeDelete(TraceShareRow, { projectId, expiresAtMs: { $lte: createdAtMs } });
        if ((await em.count(TraceShareRow, { projectId })) >= liveMax) return 'limit_reached';
        em.create(TraceShareRow, share);
        em.create(AuditEntry, audited);
        return 'stored';
      }),
    list: (projectId, { traceId, nowMs }) => {
      const live = { projectId, expiresAtMs: { $gt: nowMs }, ...(traceId === null ? {} : { traceId }) };
      return all(TraceShareRow, live, { orderBy: NEWEST_FIRST });
    },
    findBySecret: (secretHash) => one(TraceShareRow, { secretHash }),
    remove: (projectId, id, audited) =>
      transact(async ({ em }) => {
        if ((await em.nativeDelete(TraceShareRow, { projectId, id })) === 0) return false;
        em.create(AuditEntry, audited);
        return true;
      }),
  };
}
