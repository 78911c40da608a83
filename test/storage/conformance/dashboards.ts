import { describe, expect, it } from 'vitest';
import type { Dashboard, Graph } from '../../../src/domain/dashboards/dashboard.ts';
import type { AuditRecord } from '../../../src/domain/management/management.ts';
import type { Management } from '../../../src/domain/management/management-port.ts';
import { EVERYTHING } from './audit.ts';
import { found, sampleAudit } from './management-samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const AT_MS = 1_760_000_000_000;
const MANY = 100;

const named = (id: string, projectId = 'project_1'): Omit<Dashboard, 'order'> => ({
  ...{ projectId, id, name: 'Größe', createdAtMs: AT_MS, updatedAtMs: AT_MS },
});

const graphOf = (id: string, changes: Partial<Graph> = {}) => ({
  ...{ projectId: 'project_1', id, dashboardId: 'a', name: 'Cost', graphJson: '{"height":1.50}', filtersJson: '{}' },
  ...{ gridColumn: 0, gridRow: null, colSpan: 1, rowSpan: 1, createdAtMs: AT_MS, updatedAtMs: AT_MS },
  ...changes,
});

/** Runs a body on a store with an organization, whose audit log has what changes. */
function withOrganization(
  open: OpenManagement,
  body: (at: Management & { readonly audited: () => AuditRecord; readonly organizationId: string }) => Promise<void>,
) {
  return withStore(open, async (store) => {
    const { organization } = await found(store);
    const audited = () => sampleAudit(organization.id, { action: 'dashboard.test' });
    await body({ ...store, audited, organizationId: organization.id });
  });
}

export function dashboardConformance(open: OpenManagement): void {
  describe('dashboards', () => {
    it(
      'are stored after the last one, up to the limit of the project, with their place in the audit log',
      withOrganization(open, async ({ dashboards, management, audited, organizationId }) => {
        expect(await dashboards.insert(named('a'), 2, audited())).toEqual({ ...named('a'), order: 0 });
        expect(await dashboards.insert(named('b'), 2, audited())).toEqual({ ...named('b'), order: 1 });
        expect(await dashboards.insert(named('c'), 2, audited())).toBe('limit_reached');
        expect(await dashboards.insert(named('c', 'project_2'), 2, audited())).toMatchObject({ order: 0 });
        expect(await dashboards.find('project_2', 'a')).toBeNull();
        expect((await dashboards.list('project_1')).map(({ id, graphCount }) => [id, graphCount])).toEqual([
          ['a', 0],
          ['b', 0],
        ]);
        const listing = { ...EVERYTHING, action: 'dashboard.test' };
        expect(await management.audit(organizationId, listing)).toHaveLength(3);
      }),
    );

    it(
      'change their order, and nothing where one is unknown',
      withOrganization(open, async ({ dashboards, audited }) => {
        for (const id of ['a', 'b', 'c']) await dashboards.insert(named(id), MANY, audited());
        const order = { projectId: 'project_1', ids: ['c', 'x'], nowMs: AT_MS + 5 };
        expect(await dashboards.reorder(order, audited())).toEqual(['x']);
        expect((await dashboards.list('project_1')).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
        expect(await dashboards.reorder({ ...order, ids: ['c', 'a'] }, audited())).toEqual([]);
        const moved = await dashboards.list('project_1');
        expect(moved.map(({ id, order: place }) => [id, place])).toEqual([
          ['c', 0],
          ['a', 1],
          ['b', 2],
        ]);
        expect(moved[0]?.updatedAtMs).toBe(AT_MS + 5);
      }),
    );

    it(
      'are removed with their graphs alone',
      withOrganization(open, async ({ dashboards, audited }) => {
        for (const id of ['a', 'b']) await dashboards.insert(named(id), MANY, audited());
        await dashboards.insertGraph(graphOf('of-a'), MANY, audited());
        await dashboards.insertGraph(graphOf('of-b', { dashboardId: 'b' }), MANY, audited());
        expect(await dashboards.remove('project_2', 'a', audited())).toBeNull();
        expect(await dashboards.remove('project_1', 'a', audited())).toMatchObject({ id: 'a', name: 'Größe' });
        expect((await dashboards.listGraphs('project_1', null)).map(({ id }) => id)).toEqual(['of-b']);
        const named2 = { projectId: 'project_1', id: 'b', name: 'New', updatedAtMs: AT_MS + 1 };
        expect(await dashboards.rename(named2, audited())).toMatchObject({ name: 'New', order: 1 });
        expect(await dashboards.rename({ ...named2, id: 'a' }, audited())).toBeNull();
      }),
    );

    it(
      'take graphs below each other, and refuse those that have no place',
      withOrganization(open, async ({ dashboards, audited }) => {
        await dashboards.insert(named('a'), MANY, audited());
        expect(await dashboards.insertGraph(graphOf('one'), 2, audited())).toMatchObject({ gridRow: 0 });
        expect(await dashboards.insertGraph(graphOf('two'), 2, audited())).toMatchObject({ gridRow: 1 });
        expect(await dashboards.insertGraph(graphOf('three'), 2, audited())).toBe('limit_reached');
        const elsewhere = graphOf('three', { dashboardId: 'b' });
        expect(await dashboards.insertGraph(elsewhere, MANY, audited())).toBe('dashboard_gone');
        expect(await dashboards.findGraph('project_1', 'one')).toMatchObject({ graphJson: '{"height":1.50}' });
        expect(await dashboards.findGraph('project_2', 'one')).toBeNull();
      }),
    );

    it(
      'change a graph only as it was known',
      withOrganization(open, async ({ dashboards, audited }) => {
        await dashboards.insert(named('a'), MANY, audited());
        const stored = await dashboards.insertGraph(graphOf('one'), MANY, audited());
        if (typeof stored === 'string') throw new Error(stored);
        const next = { ...stored, name: 'New', updatedAtMs: AT_MS + 1 };
        expect(await dashboards.replaceGraph(next, AT_MS + 7, audited())).toBe('stale');
        const gone = { ...next, dashboardId: 'b' };
        expect(await dashboards.replaceGraph(gone, AT_MS, audited())).toBe('dashboard_gone');
        expect(await dashboards.replaceGraph(next, AT_MS, audited())).toBe('stored');
        expect(await dashboards.findGraph('project_1', 'one')).toEqual(next);
        expect(await dashboards.removeGraph('project_2', 'one', audited())).toBe(false);
        expect(await dashboards.removeGraph('project_1', 'one', audited())).toBe(true);
        expect(await dashboards.removeGraph('project_1', 'one', audited())).toBe(false);
      }),
    );
  });
}
