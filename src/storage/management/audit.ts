/** The audit log: actions and refusals. */

import { LockMode } from '@mikro-orm/core';
import type { ManagementStore } from '../../domain/management/management.ts';
import { AuditEntry } from '../entities/audit.ts';
import { rowReads, type Units } from './units.ts';

const LAST_MS = Number.MAX_SAFE_INTEGER;
/** Equal refusals within this time become one entry with a count. */
const REPEATED_MS = 60_000;
const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

export function createAuditLog({ read, transact }: Units): Pick<ManagementStore, 'audit' | 'recordRefusal'> {
  const { all } = rowReads(read);
  return {
    audit: (organizationId, { fromMs, toMs, after, limit, ...filters }) => {
      // What is not asked for is left out, so that the database chooses the index of what is.
      const asked = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null));
      // Where the index scan begins.
      const untilMs = Math.min(toMs ?? LAST_MS, after?.createdAtMs ?? LAST_MS);
      const createdAtMs = { ...(fromMs !== null && { $gte: fromMs }), $lte: untilMs };
      const onPage = after && { $or: [{ createdAtMs: { $lt: after.createdAtMs } }, { id: { $lt: after.id } }] };
      return all(AuditEntry, { organizationId, createdAtMs, ...asked, ...onPage }, { orderBy: NEWEST_FIRST, limit });
    },
    recordRefusal: (refusal) =>
      transact(async ({ em }) => {
        const { organizationId, actorKind, actorKeyId, actorUserId } = refusal;
        const { action, targetType, targetId, outcome, code } = refusal;
        const actor = { organizationId, actorKind, actorKeyId, actorUserId };
        const same = { ...actor, action, targetType, targetId, outcome, code };
        const recent = { ...same, createdAtMs: { $gte: refusal.createdAtMs - REPEATED_MS } };
        const first = await em.findOne(AuditEntry, recent, {
          orderBy: NEWEST_FIRST,
          lockMode: LockMode.PESSIMISTIC_WRITE,
        });
        if (first === null) await em.insert(AuditEntry, refusal);
        else first.count += refusal.count;
      }),
  };
}
