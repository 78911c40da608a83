import { expect, it } from 'vitest';
import { viewKey } from '../../../src/domain/keys/key-view.ts';
import { ROLE_PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import type { Binding, Scope } from '../../../src/domain/keys/permissions.ts';

const O = 'organization_1';
const TEAM = { type: 'TEAM', organizationId: O, teamId: 'team_1' } as const;
const GRANTS = 200;

it('the permissions of a key are computed with few reads of the grants of its owner, however many there are', () => {
  let looks = 0;
  const grants = Array.from({ length: GRANTS }, (_, index): Binding => {
    const grant = { role: 'MEMBER', scopeId: `project_${index}`, permissions: [] } as const;
    return {
      ...grant,
      get scopeType() {
        looks += 1;
        return 'PROJECT' as const;
      },
    };
  });
  const view = viewKey(
    {
      organizationId: O,
      id: '0123456789abcdef',
      keyType: 'personal',
      name: 'wide',
      description: null,
      userId: 'user_1',
      createdByUserId: null,
      permissionMode: 'all',
      secretHash: Buffer.alloc(32),
      imported: false,
      previousSecretHash: null,
      previousSecretUntilMs: null,
      expiresAtMs: null,
      revokedAtMs: null,
      lastUsedAtMs: null,
      createdAtMs: 0,
      updatedAtMs: 0,
      bindings: [{ id: 'rolebinding_1', role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: O, permissions: [] }],
    },
    {
      owner: { active: true, grants },
      directory: {
        teams: [{ id: TEAM.teamId }],
        locate: (type, id): Scope =>
          type === 'PROJECT' ? { ...TEAM, type, projectId: id } : { type: 'ORGANIZATION', organizationId: O },
      },
      nowMs: 1,
    },
  );
  expect(view.effectivePermissions).toEqual([...ROLE_PERMISSIONS.MEMBER].toSorted());
  // Each grant at each scope, and then a few for every permission that is still missing.
  expect(looks).toBeLessThan(3 * GRANTS * GRANTS);
});
