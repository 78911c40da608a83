/** Dashboards and their graphs. Whatever depends on the dashboards of a project locks the project first. */

import type { DashboardStore } from '../../domain/dashboards/dashboard.ts';
import { AuditEntry } from '../entities/audit.ts';
import { DashboardRow, GraphRow } from '../entities/dashboards.ts';
import type { EntityManager } from '../mapper.ts';
import { lockProject } from './slugs.ts';
import { kyselyOf, plain, rowReads, type Units } from './units.ts';

const BY_PLACE = { order: 'asc', id: 'asc' } as const;
const BY_GRID = { gridRow: 'asc', gridColumn: 'asc', createdAtMs: 'asc', id: 'asc' } as const;
const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

export function createDashboardStore({ read, transact }: Units): DashboardStore {
  const { one, all } = rowReads(read);
  return {
    list: (projectId) =>
      read(async (em) => {
        const dashboards = await em.find(DashboardRow, { projectId }, { orderBy: BY_PLACE });
        const counts = await countGraphs(em, projectId);
        return dashboards.map((row) => ({ ...plain(row), graphCount: counts.get(row.id) ?? 0 }));
      }),
    find: (projectId, id) => one(DashboardRow, { projectId, id }),
    insert: (dashboard, max, audited) =>
      transact(async ({ em }) => {
        const { projectId } = dashboard;
        await lockProject(em, projectId);
        if ((await em.count(DashboardRow, { projectId })) >= max) return 'limit_reached';
        const last = await em.findOne(DashboardRow, { projectId }, { orderBy: { order: 'desc' } });
        const stored = { ...dashboard, order: (last?.order ?? -1) + 1 };
        em.create(DashboardRow, stored);
        em.create(AuditEntry, audited);
        return stored;
      }),
    rename: ({ projectId, id, ...named }, audited) =>
      transact(async ({ em }) => {
        const stored = await em.findOne(DashboardRow, { projectId, id });
        if (stored === null) return null;
        Object.assign(stored, named);
        em.create(AuditEntry, audited);
        return plain(stored);
      }),
    reorder: ({ projectId, ids, nowMs }, audited) =>
      transact(async ({ em }) => {
        await lockProject(em, projectId);
        const dashboards = await em.find(DashboardRow, { projectId }, { orderBy: BY_PLACE });
        const unknown = ids.filter((id) => !dashboards.some((each) => each.id === id));
        if (unknown.length > 0) return unknown;
        const places = new Map(ids.map((id, index) => [id, index]));
        const placeOf = ({ id }: { readonly id: string }) => places.get(id) ?? ids.length;
        for (const [order, dashboard] of dashboards.toSorted((one, other) => placeOf(one) - placeOf(other)).entries()) {
          if (dashboard.order === order) continue;
          Object.assign(dashboard, { order, updatedAtMs: Math.max(nowMs, dashboard.updatedAtMs + 1) });
        }
        em.create(AuditEntry, audited);
        return [];
      }),
    remove: (projectId, id, audited) =>
      transact(async ({ em }) => {
        await lockProject(em, projectId);
        const stored = await em.findOne(DashboardRow, { projectId, id });
        if (stored === null) return null;
        await em.nativeDelete(GraphRow, { projectId, dashboardId: id });
        await em.nativeDelete(DashboardRow, { projectId, id });
        em.create(AuditEntry, audited);
        return plain(stored);
      }),

    listGraphs: (projectId, dashboardId) =>
      dashboardId === null
        ? all(GraphRow, { projectId }, { orderBy: NEWEST_FIRST })
        : all(GraphRow, { projectId, dashboardId }, { orderBy: BY_GRID }),
    findGraph: (projectId, id) => one(GraphRow, { projectId, id }),
    insertGraph: (graph, max, audited) =>
      transact(async ({ em }) => {
        const { projectId, dashboardId } = graph;
        await lockProject(em, projectId);
        if (!(await hasDashboard(em, graph))) return 'dashboard_gone';
        if ((await em.count(GraphRow, { projectId })) >= max) return 'limit_reached';
        const gridRow = graph.gridRow ?? (dashboardId === null ? 0 : await nextRow(em, projectId, dashboardId));
        const stored = { ...graph, gridRow };
        em.create(GraphRow, stored);
        em.create(AuditEntry, audited);
        return stored;
      }),
    replaceGraph: ({ projectId, id, createdAtMs: _, ...changed }, knownAtMs, audited) =>
      transact(async ({ em }) => {
        await lockProject(em, projectId);
        const stored = await em.findOne(GraphRow, { projectId, id });
        if (stored?.updatedAtMs !== knownAtMs) return 'stale';
        const isMoved = stored.dashboardId !== changed.dashboardId;
        if (isMoved && !(await hasDashboard(em, { projectId, dashboardId: changed.dashboardId }))) {
          return 'dashboard_gone';
        }
        Object.assign(stored, changed);
        em.create(AuditEntry, audited);
        return 'stored';
      }),
    removeGraph: (projectId, id, audited) =>
      transact(async ({ em }) => {
        if ((await em.nativeDelete(GraphRow, { projectId, id })) === 0) return false;
        em.create(AuditEntry, audited);
        return true;
      }),
  };
}

async function countGraphs(em: EntityManager, projectId: string): Promise<ReadonlyMap<string | null, number>> {
  const counted = await kyselyOf(em)
    .selectFrom('Graph')
    .select(({ fn }) => ['dashboardId', fn.countAll().as('graphs')])
    .where('projectId', '=', projectId)
    .groupBy('dashboardId')
    .execute();
  return new Map(counted.map(({ dashboardId, graphs }) => [dashboardId, Number(graphs)]));
}

type Placed = { readonly projectId: string; readonly dashboardId: string | null };

async function hasDashboard(em: EntityManager, { projectId, dashboardId }: Placed): Promise<boolean> {
  return dashboardId === null || (await em.count(DashboardRow, { projectId, id: dashboardId })) > 0;
}

async function nextRow(em: EntityManager, projectId: string, dashboardId: string): Promise<number> {
  const last = await em.findOne(GraphRow, { projectId, dashboardId }, { orderBy: { gridRow: 'desc' } });
  return (last?.gridRow ?? -1) + 1;
}
