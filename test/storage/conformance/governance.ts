import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import { governance, governanceOf, recordOf, reportOf } from './reports.ts';
import { finish, NO_LOG_CUTS } from './retention-walk.ts';
import { ORGANIZATION, samplePlan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const EVERYTHING = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, after: null, limit: 100 };

export function governanceConformance(open: OpenSubject): void {
  describe('governance events', () => {
    it(
      'MUST emit every id once',
      withStore(open, async ({ requests }) => {
        const events = [governance('a'), governance('b'), governance('a')];
        expect(await requests.reportGovernance(governanceOf(events))).toEqual(['emitted', 'emitted', 'duplicate']);
        const again = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            requests.reportGovernance(governanceOf([governance('b'), governance(`c-${index % 2}`)])),
          ),
        );
        expect(again.every(([first]) => first === 'duplicate')).toBe(true);
        expect(again.filter(([, second]) => second === 'emitted')).toHaveLength(2);
        const elsewhere = { ...governanceOf([governance('a')]), organizationNumber: 2 };
        expect(await requests.reportGovernance(elsewhere)).toEqual(['emitted']);
      }),
    );

    it(
      'MUST keep the events out of the log',
      withStore(open, async (store) => {
        await store.requests.report(reportOf([recordOf('success')]));
        const odd = ['gw-1', 'x'].flatMap((part) => [`${part}:completed`, `${part}:settled`]);
        const ids = ['vk_1:created:1790000000000', ...odd.map((id) => `${id}:1`), ...odd.slice(1)];
        await store.requests.reportGovernance(governanceOf(ids.map((id) => governance(id))));
        for (const type of [null, 'gateway.request.completed', 'gateway.request.settled'] as const) {
          const found = await store.events.list({ ...EVERYTHING, type });
          expect(found.map(({ id }) => id)).toEqual(type === 'gateway.request.settled' ? [] : ['gw-1:completed']);
        }
        for (const id of ids) expect(await store.events.find(ORGANIZATION, id, 0)).toBeNull();
      }),
    );

    it(
      'are removed by retention, and their ids are free again',
      withStore(open, async (store) => {
        const events = Array.from({ length: 120 }, (_, index) => governance(`vk:created:${index}`));
        await store.requests.reportGovernance(governanceOf(events));
        await walk(store, Date.UTC(2020, 0));
        const results = await store.requests.reportGovernance(governanceOf(events));
        expect(new Set(results)).toEqual(new Set(['duplicate']));
        const now = new Date();
        await walk(store, Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 3));
        const fresh = await store.requests.reportGovernance(governanceOf(events));
        expect(new Set(fresh)).toEqual(new Set(['emitted']));
      }),
    );
  });

  describe('the numbers of projects', () => {
    it(
      'are those of the organization, archived ones included',
      withStore(open, async ({ installation, keys, projects }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const project = await keys.findProject(plan.project.id);
        await execute('UPDATE projects SET archived_at = 1');
        const ask = (organizationId: string) => projects.numbers(organizationId, [plan.project.id, 'unknown']);
        expect(await ask(plan.organization.id)).toEqual(new Map([[plan.project.id, project?.number]]));
        expect(await ask('another')).toEqual(new Map());
      }),
    );
  });
}

async function walk({ logRetention }: Store, eventsBeforeMs: number): Promise<void> {
  await finish(logRetention.begin({ ...NO_LOG_CUTS, eventsBeforeMs }));
}
