import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyDraft } from '../../../src/domain/keys/keys.ts';
import {
  isRequiredAtOrganization,
  isRequiredBelow,
  PERMISSIONS,
} from '../../../src/domain/keys/permission-catalogue.ts';
import { type Binding, may, type Principal, type Scope } from '../../../src/domain/keys/permissions.ts';
import { readDirectory } from '../../../src/domain/management/directory.ts';
import { bind, createFixture, customAt, type Fixture, NOW_MS, O, outcomeOf } from './keys-fixture.ts';
import { permissionsAt } from './permissions-at.ts';

const SCOPES = [
  ['ORGANIZATION', O],
  ['TEAM', 'team_1'],
  ['TEAM', 'team_2'],
  ['PROJECT', 'project_1'],
  ['PROJECT', 'project_2'],
  ['PROJECT', 'project_gone'],
  ['PROJECT', 'project_unknown'],
] as const;

const scope = fc.constantFrom(...SCOPES);
const names = fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { minLength: 1, maxLength: 4 });
const builtIn = fc
  .tuple(fc.constantFrom('ADMIN', 'MEMBER', 'VIEWER'), scope)
  .map(([role, [scopeType, scopeId]]) => bind(role, scopeType, scopeId));
const custom = fc
  .tuple(names, scope)
  .map(([permissions, [scopeType, scopeId]]) => bind('CUSTOM', scopeType, scopeId, permissions));
const grants = fc.array(fc.oneof(builtIn, custom), { maxLength: 4 });

async function scopesOf(fixture: Fixture): Promise<readonly Scope[]> {
  const { teams, projects, locate } = await readDirectory(fixture.store, O);
  const found = [
    locate('ORGANIZATION', O),
    ...teams.map(({ id }) => locate('TEAM', id)),
    ...projects.map(({ id }) => locate('PROJECT', id)),
  ];
  return found.filter((scope) => scope !== null);
}

async function principalOf(fixture: Fixture, id: string): Promise<Principal> {
  return (await fixture.callWith(id)).caller.principal;
}

/** Replaces what a member holds. */
async function giveRoles(fixture: Fixture, userId: string, bindings: readonly Binding[]): Promise<void> {
  const removedRoleBindings = await fixture.store.roleBindings(O, userId);
  const roleBindings = bindings.map((binding, index) => ({
    ...binding,
    organizationId: O,
    userId,
    id: `rolebinding_${userId}_${index}`,
    createdAtMs: NOW_MS,
  }));
  const expectedVersion = await fixture.store.version(O);
  await fixture.store.commit({ organizationId: O, expectedVersion, removedRoleBindings, roleBindings, audit: [] });
}

describe('what a key can do', () => {
  it('is the union over all scopes, for any grants of key and owner', async () => {
    await fc.assert(
      fc.asyncProperty(grants, grants, fc.boolean(), async (held, roles, isService) => {
        const fixture = createFixture();
        await giveRoles(fixture, 'user_mem', roles);
        const { id } = fixture.addKey(isService ? null : 'user_mem', held);
        const principal = await principalOf(fixture, id);
        const everywhere = (await scopesOf(fixture)).flatMap((scope) => [...permissionsAt(principal, scope)]);
        const { effectivePermissions } = await fixture.keys.get(await fixture.callWith(fixture.callers.PA.id), id);
        expect(effectivePermissions).toEqual([...new Set(everywhere)].toSorted());
      }),
      { numRuns: 200 },
    );
  });
});

type Step = {
  readonly by: number;
  readonly on: number;
  readonly act: 'create' | 'update' | 'rotate';
  readonly draft: KeyDraft;
};

const members = fc.constantFrom('user_adm', 'user_mgr', 'user_mem', 'user_vie', 'user_ext');
const bindingOf = (...roles: ('ADMIN' | 'MEMBER' | 'VIEWER' | 'CUSTOM')[]) =>
  fc.tuple(fc.constantFrom(...roles), scope).map(([role, [scopeType, scopeId]]) => [{ role, scopeType, scopeId }]);

/** Ways to ask that fit together, so that only the caller's rights decide. */
const drafts: fc.Arbitrary<KeyDraft> = fc.oneof(
  fc.constant({}),
  fc.record({ assignedToUserId: members }),
  fc.record({ keyType: fc.constant('service' as const) }),
  fc.record({ keyType: fc.constant('service' as const), projectIds: fc.constant(['project_1']) }),
  fc.record({ bindings: bindingOf('ADMIN', 'MEMBER', 'VIEWER') }),
  fc.record({ bindings: bindingOf('ADMIN', 'MEMBER', 'VIEWER'), assignedToUserId: members }),
  fc.record({
    bindings: bindingOf('CUSTOM'),
    permissionMode: fc.constant('restricted' as const),
    permissions: names.map((drawn) => [...drawn, 'traces:view']),
  }),
);

const step: fc.Arbitrary<Step> = fc.record({
  by: fc.nat(30),
  on: fc.nat(30),
  act: fc.constantFrom('create', 'create', 'update', 'rotate'),
  draft: drafts,
});

describe('no sequence of operations on keys', () => {
  it('yields a token that can do what its caller could not', async () => {
    let succeeded = 0;
    await fc.assert(
      fc.asyncProperty(grants, grants, fc.array(step, { minLength: 6, maxLength: 12 }), async (roles, held, steps) => {
        const fixture = createFixture();
        // A member who may manage keys, with roles and keys that do not have to fit each other.
        await giveRoles(fixture, 'user_mgr', [...roles, customAt('organization:manage')]);
        const ids = [
          ...Object.values(fixture.callers).map(({ id }) => id),
          fixture.addKey('user_mgr', [...held, customAt('organization:manage')]).id,
          fixture.addKey(null, held).id,
        ];
        const scopes = await scopesOf(fixture);
        for (const each of steps) {
          const by = ids[each.by % ids.length] ?? '';
          const on = ids[each.on % ids.length] ?? '';
          const caller = await principalOf(fixture, by);
          const before = await fixture.stored(on);
          const made = await take(fixture, { ...each, by, on });
          if (made === null) continue;
          succeeded += 1;
          if (each.act === 'create') ids.push(made);
          const after = await fixture.stored(made);
          if (each.act === 'update' && JSON.stringify(before.bindings) === JSON.stringify(after.bindings)) continue;
          const power = await principalOf(fixture, made);
          for (const scope of scopes) {
            // No operation asks for the others there: a grant of them at the organization is one of all that is below it.
            const counts = scope.type === 'ORGANIZATION' ? isRequiredAtOrganization : isRequiredBelow;
            const held = [...permissionsAt(power, scope)].filter(counts);
            const gained = held.filter((permission) => !may(caller, permission, scope));
            expect(gained, `${each.act} by ${by}`).toEqual([]);
          }
        }
      }),
      { numRuns: 200 },
    );
    expect(succeeded).toBeGreaterThan(200);
  });
});

/** The id of the key that was made or changed; null: refused. */
async function take(
  fixture: Fixture,
  { by, on, act, draft }: Omit<Step, 'by' | 'on'> & { readonly by: string; readonly on: string },
): Promise<string | null> {
  const call = await fixture.callWith(by);
  let made = on;
  const outcome = await outcomeOf(
    (async () => {
      if (act === 'create') {
        made = (await fixture.keys.create(call, { name: 'new', ...draft })).key.id;
      } else if (act === 'update') await fixture.keys.update(call, on, draft);
      else await fixture.keys.rotate(call, { id: on, overlapSeconds: 0 });
    })(),
  );
  return outcome === 'ok' ? made : null;
}
