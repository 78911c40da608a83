import { describe, expect, it } from 'vitest';
import { EVERYTHING } from './audit.ts';
import { sampleAudit } from './management-samples.ts';
import { samplePlan } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const NOW_MS = 1_790_000_000_000;

export function projectSettingsConformance(open: OpenManagement): void {
  describe('project settings', () => {
    it(
      'MUST leave alone what is not named, and returns all of them',
      withStore(open, async ({ installation, keys, projects }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const { id } = plan.project;
        const first = { traceRetentionDays: null, emitRequestEvents: true };
        expect(await keys.findProject(id)).toMatchObject(first);
        expect(
          await projects.updateSettings(id, {}, sampleAudit(plan.organization.id, { createdAtMs: NOW_MS })),
        ).toEqual(first);
        const later = [
          [{ traceRetentionDays: 30 }, { traceRetentionDays: 30, emitRequestEvents: true }],
          [{ emitRequestEvents: false }, { traceRetentionDays: 30, emitRequestEvents: false }],
          [{ traceRetentionDays: 0 }, { traceRetentionDays: 0, emitRequestEvents: false }],
          [
            { traceRetentionDays: 3650, emitRequestEvents: true },
            { traceRetentionDays: 3650, emitRequestEvents: true },
          ],
        ] as const;
        for (const [change, settings] of later) {
          expect(
            await projects.updateSettings(id, change, sampleAudit(plan.organization.id, { createdAtMs: NOW_MS })),
          ).toEqual(settings);
        }
      }),
    );

    it(
      'every request that begins after the answer MUST be judged by the new settings',
      withStore(open, async ({ installation, keys, projects }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const { id, keyHash } = plan.project;
        for (let days = 1; days <= 20; days += 1) {
          await projects.updateSettings(
            id,
            { traceRetentionDays: days, emitRequestEvents: days % 2 === 0 },
            sampleAudit(plan.organization.id, { createdAtMs: NOW_MS }),
          );
          const settings = { traceRetentionDays: days, emitRequestEvents: days % 2 === 0 };
          expect(await keys.findProject(id)).toMatchObject(settings);
          expect(await keys.findProjectByKeyHash(keyHash, NOW_MS)).toMatchObject(settings);
        }
      }),
    );

    it(
      'changes at the same time are all kept',
      withStore(open, async ({ installation, keys, projects }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const { id } = plan.project;
        await Promise.all([
          projects.updateSettings(
            id,
            { traceRetentionDays: 7 },
            sampleAudit(plan.organization.id, { createdAtMs: NOW_MS }),
          ),
          projects.updateSettings(
            id,
            { emitRequestEvents: false },
            sampleAudit(plan.organization.id, { createdAtMs: NOW_MS }),
          ),
        ]);
        expect(await keys.findProject(id)).toMatchObject({ traceRetentionDays: 7, emitRequestEvents: false });
      }),
    );

    it(
      'stores an entry of the audit log with the settings that get another value, and none without such',
      withStore(open, async ({ installation, projects, management }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const { organization, project } = plan;
        const audited = () => sampleAudit(organization.id, { action: 'project.update', createdAtMs: NOW_MS });
        await projects.updateSettings(project.id, { traceRetentionDays: 7, emitRequestEvents: true }, audited());
        await projects.updateSettings(project.id, { emitRequestEvents: true }, audited());
        await projects.updateSettings(project.id, {}, audited());
        const entries = await management.audit(organization.id, EVERYTHING);
        const changes = entries.filter(({ action }) => action === 'project.update');
        expect(changes.map(({ fields }) => fields)).toEqual([['traceRetentionDays']]);
      }),
    );

    it(
      'returns null for a project that is unknown or archived, and changes nothing',
      withStore(open, async ({ installation, keys, projects }, { execute }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const { id } = plan.project;
        expect(
          await projects.updateSettings(
            'project_unknown',
            { traceRetentionDays: 1 },
            sampleAudit(plan.organization.id, { createdAtMs: NOW_MS }),
          ),
        ).toBeNull();
        await execute('UPDATE projects SET archived_at = 5');
        expect(
          await projects.updateSettings(
            id,
            { traceRetentionDays: 1 },
            sampleAudit(plan.organization.id, { createdAtMs: NOW_MS }),
          ),
        ).toBeNull();
        await execute('UPDATE projects SET archived_at = NULL');
        expect(await keys.findProject(id)).toMatchObject({ traceRetentionDays: null });
      }),
    );
  });
}
