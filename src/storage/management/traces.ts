/** Work on all traces that searches find, which are runs of evaluators and deletions, and links to traces. */

import { type EntitySchema, LockMode, raw } from '@mikro-orm/core';
import type { Lease } from '../../domain/clock.ts';
import type { Leased, RunProgress, SearchRun, SearchRunStore } from '../../domain/traces/search/search-run.ts';
import type { TraceShareStore } from '../../domain/traces/sharing/trace-share.ts';
import { AuditEntry } from '../entities/audit.ts';
import { TraceShareRow } from '../entities/traces.ts';
import type { EntityManager } from '../mapper.ts';
import { lockProject } from './slugs.ts';
import { plain, rowReads, type Units, unleased } from './units.ts';

// The mapper's types resolve filters only of known entities, so these functions see a table by the common columns.
type Row = { -readonly [Name in keyof SearchRun]: SearchRun[Name] } & {
  leasedUntilMs: number;
  fence: number;
  failures: number;
};

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

export function createRunStore<Run extends SearchRun>(
  { read, transact }: Units,
  table: EntitySchema<Run & Row>,
): SearchRunStore<Run> {
  const runs = table as unknown as EntitySchema<Row>;
  const toRun = (row: Row) => plain(row, 'leasedUntilMs', 'fence', 'failures') as unknown as Run;
  return {
    find: (projectId, id) =>
      read(async (em) => {
        const found = await em.findOne(runs, { projectId, id });
        return found && toRun(found);
      }),
    list: (projectId, limit) =>
      read(async (em) => (await em.find(runs, { projectId }, { orderBy: NEWEST_FIRST, limit })).map(toRun)),
    insert: (run, { runningMax, startedMax, startedSinceMs, endedBeforeMs }, audited) =>
      transact(async ({ em }) => {
        const { projectId } = run;
        await lockProject(em, projectId);
        if ((await em.count(runs, { projectId, status: 'running' })) >= runningMax) return 'limit_reached';
        const started = await em.count(runs, { projectId, createdAtMs: { $gte: startedSinceMs } });
        if (started >= startedMax) return 'too_many_started';
        const ended = { projectId, createdAtMs: { $lt: endedBeforeMs }, status: { $ne: 'running' as const } };
        await em.nativeDelete(runs, ended);
        const row: Row = { ...run, leasedUntilMs: 0, fence: 0, failures: 0 };
        em.create(runs, row);
        if (audited !== undefined) em.create(AuditEntry, audited);
        return 'stored';
      }),
    cancel: ({ projectId, id }, nowMs) =>
      transact(async ({ em }) => {
        const running = { projectId, id, status: 'running' as const };
        await em.nativeUpdate(runs, running, { status: 'cancelled', updatedAtMs: nowMs });
      }),
    lease: ({ fence, ...lease }) =>
      transact(async ({ em }) => {
        const run = await lockIdle(em, runs, lease);
        if (run === null) return null;
        run.fence = fence;
        run.leasedUntilMs = lease.untilMs;
        return plain(run, 'leasedUntilMs') as unknown as Leased<Run>;
      }),
    // Changes no row when the run has ended or another worker has leased it.
    advance: ({ projectId, id, fence, searchJson: _, createdAtMs: __, ...progress }: RunProgress<Run>) =>
      transact(async ({ em }) => {
        const leased = { projectId, id, fence, status: 'running' as const };
        const changed: Partial<Row> = progress;
        return (await em.nativeUpdate(runs, leased, changed)) > 0;
      }),
  };
}

/**
 * Skips runs that other transactions have locked. Projects take turns: the project that was served longest ago comes
 * first, and of its runs the one that was left longest ago.
 */
async function lockIdle(em: EntityManager, runs: EntitySchema<Row>, lease: Lease) {
  const table = runs.meta.tableName;
  const served = `(select max(other.leased_until) from ${table} other where other.project_id = run.project_id)`;
  return await em
    .createQueryBuilder(runs, 'run')
    // A literal, so that the partial index matches.
    .where("run.status = 'running'")
    .andWhere(unleased(lease))
    .orderBy([{ [raw(served)]: 'asc' }, { leasedUntilMs: 'asc' }])
    .limit(1)
    .setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE)
    .getSingleResult();
}

export function createShareStore({ read, transact }: Units): TraceShareStore {
  const { one, all } = rowReads(read);
  return {
    insert: (share, { liveMax, erasedBeforeMs }, audited) =>
      transact(async ({ em }) => {
        const { projectId, createdAtMs } = share;
        await lockProject(em, projectId);
        await em.nativeDelete(TraceShareRow, { projectId, expiresAtMs: { $lt: erasedBeforeMs } });
        const live = { projectId, expiresAtMs: { $gt: createdAtMs } };
        if ((await em.count(TraceShareRow, live)) >= liveMax) return 'limit_reached';
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
