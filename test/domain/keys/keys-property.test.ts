import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyDraft } from '../../../src/domain/keys/keys.ts';
import { PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import { type Binding, may, type Principal, type Scope } from '../../../src/domain/keys/permissions.ts';
import { readDirectory } from '../../../src/domain/management/directory.ts';
import { bind, createWorld, customAt, NOW_MS, O, outcomeOf, type World } from './keys-world.ts';
import { permissionsAt } from './permissions-at.ts';

const PLACES = [
  ['ORGANIZATION', O],
  ['TEAM', 'team_1'],
  ['TEAM', 'team_2'],
  ['PROJECT', 'project_1'],
  ['PROJECT', 'project_2'],
  ['PROJECT', 'project_gone'],
  ['PROJECT', 'project_unknown'],
] as const;

const place = fc.constantFrom(...PLACES);
const names = fc.uniqueArray(fc.constantFrom(...PERMISSIONS), { minLength: 1, maxLength: 4 });
const builtIn = fc
  .tuple(fc.constantFrom('ADMIN', 'MEMBER', 'VIEWER'), place)
  .map(([role, [scopeType, scopeId]]) => bind(role, scopeType, scopeId));
const custom = fc
  .tuple(names, place)
  .map(([permissions, [scopeType, scopeId]]) => bind('CUSTOM', scopeType, scopeId, permissions));
const grants = fc.array(fc.oneof(builtIn, custom), { maxLength: 4 });

async function scopesOf(world: World): Promise<readonly Scope[]> {
  const { teams, projects, locate } = await readDirectory(world.store, O);
  const found = [
    locate('ORGANIZATION', O),
    ...teams.map(({ id }) => locate('TEAM', id)),
    ...projects.map(({ id }) => locate('PROJECT', id)),
  ];
  return found.filter((scope) => scope !== null);
}

async function principalOf(world: World, id: string): Promise<Principal> {
  return (await world.callWith(id)).caller.principal;
}

/** Replaces what a member holds. */
async function giveRoles(world: World, userId: string, bindings: readonly Binding[]): Promise<void> {
  const removedRoleBindings = await world.store.roleBindings(O, userId);
  const roleBindings = bindings.map((binding, index) => ({
    ...binding,
    organizationId: O,
    userId,
    id: `rolebinding_${userId}_${index}`,
    createdAtMs: NOW_MS,
  }));
  const expectedVersion = await world.store.version(O);
  await world.store.commit({ organizationId: O, expectedVersion, removedRoleBindings, roleBindings, audit: [] });
}

describe('what a key can do', () => {
  it('is the union of its answers everywhere, for whatever grants of key and owner', async () => {
    await fc.assert(
      fc.asyncProperty(grants, grants, fc.boolean(), async (held, roles, isService) => {
        const world = createWorld();
        await giveRoles(world, 'user_mem', roles);
        const { id } = world.addKey(isService ? null : 'user_mem', held);
        const principal = await principalOf(world, id);
        const everywhere = (await scopesOf(world)).flatMap((scope) => [...permissionsAt(principal, scope)]);
        const { effectivePermissions } = await world.keys.get(await world.callWith(world.callers.PA.id), id);
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
  fc.tuple(fc.constantFrom(...roles), place).map(([role, [scopeType, scopeId]]) => [{ role, scopeType, scopeId }]);

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
        const world = createWorld();
        // A member who may manage keys, with roles and keys that do not have to fit each other.
        await giveRoles(world, 'user_mgr', [...roles, customAt('organization:manage')]);
        const ids = [
          ...Object.values(world.callers).map(({ id }) => id),
          world.addKey('user_mgr', [...held, customAt('organization:manage')]).id,
          world.addKey(null, held).id,
        ];
        const scopes = await scopesOf(world);
        for (const each of steps) {
          const by = ids[each.by % ids.length] ?? '';
          const on = ids[each.on % ids.length] ?? '';
          const caller = await principalOf(world, by);
          const before = await world.stored(on);
          const made = await take(world, { ...each, by, on });
          if (made === null) continue;
          succeeded += 1;
          if (each.act === 'create') ids.push(made);
          const after = await world.stored(made);
          if (each.act === 'update' && JSON.stringify(before.bindings) === JSON.stringify(after.bindings)) continue;
          const power = await principalOf(world, made);
          for (const scope of scopes) {
            const gained = [...permissionsAt(power, scope)].filter((permission) => !may(caller, permission, scope));
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
  world: World,
  { by, on, act, draft }: Omit<Step, 'by' | 'on'> & { readonly by: string; readonly on: string },
): Promise<string | null> {
  const call = await world.callWith(by);
  let made = on;
  const outcome = await outcomeOf(
    (async () => {
      if (act === 'create') {
        made = (await world.keys.create(call, { name: 'new', ...draft }, () => undefined)).key.id;
      } else if (act === 'update') await world.keys.update(call, on, draft);
      else await world.keys.rotate(call, { id: on, overlapSeconds: 0 }, () => undefined);
    })(),
  );
  return outcome === 'ok' ? made : null;
}
