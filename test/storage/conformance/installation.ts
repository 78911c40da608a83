import { describe, expect, it } from 'vitest';
import { EVERYTHING } from './audit.ts';
import { samplePlan } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

export function installationConformance(open: OpenManagement): void {
  describe('the installation', () => {
    it(
      'has no verifier while the database is fresh, and keeps the one of the first organization',
      withStore(open, async ({ installation }) => {
        expect(await installation.readSecret()).toBeNull();
        const plan = samplePlan();
        expect(await installation.bootstrap(plan)).toBe(true);
        expect(await installation.readSecret()).toEqual({ verifier: plan.verifier, pepper: null });
      }),
    );

    it(
      'creates the first organization with everything in it',
      withStore(open, async ({ installation, keys }) => {
        const plan = samplePlan();
        await installation.bootstrap(plan);
        const project = await keys.findProjectByKeyHash(plan.project.keyHash, plan.createdAtMs);
        expect(project).toEqual({
          id: plan.project.id,
          number: expect.any(Number),
          slug: plan.project.slug,
          organizationId: plan.organization.id,
          organizationNumber: expect.any(Number),
          priceVersion: 0,
          promptVersion: 0,
          teamId: plan.team.id,
          emitRequestEvents: true,
          traceRetentionDays: null,
          archivedAtMs: null,
        });
        const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: plan.organization.id, permissions: [] };
        expect(await keys.findApiKey(plan.apiKey.id)).toEqual({
          id: plan.apiKey.id,
          keyType: 'personal',
          organization: {
            id: plan.organization.id,
            number: project?.organizationNumber,
            priceVersion: 0,
            promptVersion: 0,
          },
          userId: plan.member.userId,
          secretHash: plan.apiKey.secretHash,
          previousSecretHash: null,
          previousSecretUntilMs: null,
          expiresAtMs: null,
          revokedAtMs: null,
          ownerActive: true,
          bindings: [grant],
          ownerBindings: [grant],
        });
      }),
    );

    it(
      'MUST do nothing and return false when an organization exists already',
      withStore(open, async ({ installation, keys }) => {
        const [first, second] = [samplePlan(), samplePlan()];
        await installation.bootstrap(first);
        expect(await installation.bootstrap(second)).toBe(false);
        expect(await installation.readSecret()).toEqual({ verifier: first.verifier, pepper: null });
        expect(await keys.findApiKey(second.apiKey.id)).toBeNull();
        expect(await keys.findProject(second.project.id)).toBeNull();
      }),
    );

    it(
      'creates one more organization with everything in it, and keeps the verifier',
      withStore(open, async ({ installation, keys, management }) => {
        const [first, { verifier: _, ...second }] = [samplePlan(), samplePlan()];
        await installation.bootstrap(first);
        expect(await keys.findApiKey(second.apiKey.id)).toBeNull();
        expect(await keys.findProjectByKeyHash(second.project.keyHash, second.createdAtMs)).toBeNull();
        await installation.addOrganization(second);
        expect(await installation.readSecret()).toEqual({ verifier: first.verifier, pepper: null });
        const key = await keys.findApiKey(second.apiKey.id);
        const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: second.organization.id, permissions: [] };
        expect(key).toMatchObject({ organization: { id: second.organization.id }, bindings: [grant] });
        expect(key?.ownerBindings).toEqual([grant]);
        expect(await keys.findProjectByKeyHash(second.project.keyHash, second.createdAtMs)).toMatchObject({
          id: second.project.id,
          organizationId: second.organization.id,
          organizationNumber: key?.organization.number,
          teamId: second.team.id,
        });
        expect(key?.organization.number).not.toBe((await keys.findApiKey(first.apiKey.id))?.organization.number);
        for (const [{ organization, team, project, member }, actorKind] of [
          [first, 'bootstrap'],
          [second, 'cli'],
        ] as const) {
          expect(await management.teams(organization.id)).toMatchObject([{ id: team.id }]);
          expect(await management.projects(organization.id)).toMatchObject([{ id: project.id }]);
          expect(await management.members(organization.id)).toMatchObject([{ userId: member.userId }]);
          expect(await management.audit(organization.id, EVERYTHING)).toMatchObject([
            { action: 'bootstrap', actorKind, actorUserId: null, actorKeyId: null, targetId: organization.id },
          ]);
        }
      }),
    );

    it(
      'MUST bootstrap once when several start at once',
      withStore(open, async ({ installation, keys }) => {
        const plans = Array.from({ length: 5 }, samplePlan);
        const answers = await Promise.all(plans.map((plan) => installation.bootstrap(plan)));
        expect(answers.filter((answer) => answer)).toHaveLength(1);
        const found = await Promise.all(plans.map((plan) => keys.findProject(plan.project.id)));
        expect(found.map((project) => project !== null)).toEqual(answers);
      }),
    );
  });
}
