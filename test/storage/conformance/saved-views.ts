import { describe, expect, it } from 'vitest';
import type { Management } from '../../../src/domain/management/management-port.ts';
import type { SavedView } from '../../../src/domain/traces/views/saved-view.ts';
import { EVERYTHING } from './audit.ts';
import { found, sampleAudit } from './management-samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const MAX = { ofProject: 3, ofPerson: 2 };

let made = 0;
function sampleView(over: Partial<SavedView> = {}): SavedView {
  made += 1;
  return {
    projectId: 'project_1',
    id: `savedview_${made}`,
    name: 'Günstig',
    search: 'q=model%3Agpt-5',
    visibility: 'PROJECT',
    createdBy: 'user_1',
    createdAtMs: 1000 + made,
    updatedAtMs: 1000 + made,
    ...over,
  };
}

/** Makes entries of the audit log, and counts those that were stored since. */
async function audited(store: Management) {
  const { id } = (await found(store)).organization;
  const count = async () => (await store.management.audit(id, EVERYTHING)).length;
  const before = await count();
  return { entry: () => sampleAudit(id), countStored: async () => (await count()) - before };
}

export function savedViewConformance(open: OpenManagement): void {
  describe('saved views', () => {
    it(
      'are listed newest first by (createdAt, id): MUST NOT return personal views of other people',
      withStore(open, async (store) => {
        const { savedViews: views } = store;
        const { entry } = await audited(store);
        const shared = sampleView();
        const own = sampleView({ visibility: 'PERSONAL', createdAtMs: 5000, id: 'savedview_b' });
        const others = sampleView({
          visibility: 'PERSONAL',
          createdBy: 'user_2',
          createdAtMs: 5000,
          id: 'savedview_a',
        });
        const elsewhere = sampleView({ projectId: 'project_2' });
        for (const view of [shared, own, others, elsewhere]) await views.insert(view, MAX, entry());
        const list = (userId: string | null, after: SavedView | null = null, limit = 10) =>
          views.list('project_1', { userId, after, limit });
        expect(await list('user_1')).toEqual([own, shared]);
        expect(await list('user_2')).toEqual([others, shared]);
        expect(await list(null)).toEqual([shared]);
        expect(await list('user_1', null, 1)).toEqual([own]);
        expect(await list('user_1', own)).toEqual([shared]);
        expect(await list('user_2', { ...own, id: 'savedview_aa' })).toEqual([others, shared]);
        expect(await list('user_2', others)).toEqual([shared]);
        expect(await views.find('project_1', others.id)).toEqual(others);
        expect(await views.find('project_2', others.id)).toBeNull();
      }),
    );

    it(
      'MUST return limit_reached and store nothing where as many are kept of those that the limit of the view counts',
      withStore(open, async (store) => {
        const { savedViews: views } = store;
        const { entry, countStored } = await audited(store);
        const personal = (createdBy: string) => sampleView({ visibility: 'PERSONAL', createdBy });
        const kept = [sampleView(), sampleView(), sampleView(), personal('user_1'), personal('user_1')];
        for (const view of kept) expect(await views.insert(view, MAX, entry())).toBe('stored');
        for (const view of [sampleView({ createdBy: 'user_9' }), personal('user_1')]) {
          expect(await views.insert(view, MAX, entry())).toBe('limit_reached');
          expect(await views.find('project_1', view.id)).toBeNull();
        }
        expect(await countStored()).toBe(kept.length);
        expect(await views.insert(personal('user_2'), MAX, entry())).toBe('stored');
        expect(await views.insert(sampleView({ projectId: 'project_2' }), MAX, entry())).toBe('stored');
      }),
    );

    it(
      'MUST return stale and store nothing when the view was changed or removed since, and limit_reached where it would count to a limit that it did not count to',
      withStore(open, async (store) => {
        const { savedViews: views } = store;
        const { entry, countStored } = await audited(store);
        const view = sampleView();
        const full = [1, 2].map(() => sampleView({ visibility: 'PERSONAL' }));
        for (const each of [view, ...full]) await views.insert(each, MAX, entry());
        const { updatedAtMs } = view;
        const next = { ...view, name: 'Teuer', updatedAtMs: updatedAtMs + 1 };
        expect(await views.replace(next, { updatedAtMs, max: MAX }, entry())).toBe('stored');
        const entries = await countStored();
        const late = { ...next, name: 'late', updatedAtMs: updatedAtMs + 2 };
        expect(await views.replace(late, { updatedAtMs, max: MAX }, entry())).toBe('stale');
        const moved = { ...late, visibility: 'PERSONAL' } as const;
        const expected = { updatedAtMs: next.updatedAtMs, max: MAX };
        expect(await views.replace(moved, expected, entry())).toBe('limit_reached');
        expect(await views.find('project_1', view.id)).toEqual(next);
        expect(await countStored()).toBe(entries);
        expect(await views.replace(late, { ...expected, max: { ofProject: 1, ofPerson: 0 } }, entry())).toBe('stored');
      }),
    );

    it(
      'MUST return false and store nothing when the project has no such view',
      withStore(open, async (store) => {
        const { savedViews: views } = store;
        const { entry, countStored } = await audited(store);
        const view = sampleView();
        await views.insert(view, MAX, entry());
        expect(await views.remove('project_2', view.id, entry())).toBe(false);
        expect(await countStored()).toBe(1);
        expect(await views.remove('project_1', view.id, entry())).toBe(true);
        expect(await views.remove('project_1', view.id, entry())).toBe(false);
        expect([await views.find('project_1', view.id), await countStored()]).toEqual([null, 2]);
      }),
    );
  });
}
