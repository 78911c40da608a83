import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expand,
  isOrganizationOnly,
  isPermission,
  isRequiredAtOrganization,
  isRequiredBelow,
  PERMISSIONS,
  ROLE_PERMISSIONS,
} from '../../../src/domain/keys/permission-catalogue.ts';
import {
  type Binding,
  covers,
  type Directory,
  type Grants,
  grants,
  holdsAnything,
  may,
  type Principal,
  type Role,
  type Scope,
  type ScopeType,
} from '../../../src/domain/keys/permissions.ts';
import { runsOf } from '../../support/scenario.ts';
import { permissionsAt } from './permissions-at.ts';

const organization: Scope = { type: 'ORGANIZATION', organizationId: 'o' };
const [team1, team2, emptyTeam] = [inTeam('t1'), inTeam('t2'), inTeam('t3')];
const [project1, project2] = [inProject('t1', 'p1'), inProject('t2', 'p2')];
// This project's id is also a team's id: the type of a scope counts as much as its id.
const twin = inProject('t1', 't2');
const ours = [organization, team1, team2, emptyTeam, project1, project2, twin];
const foreign: Scope[] = [
  { type: 'ORGANIZATION', organizationId: 'x' },
  { type: 'PROJECT', organizationId: 'x', teamId: 'xt', projectId: 'xp' },
];
const everywhere = [...ours, ...foreign];

function inTeam(teamId: string): Scope {
  return { type: 'TEAM', organizationId: 'o', teamId };
}

function inProject(teamId: string, projectId: string): Scope {
  return { type: 'PROJECT', organizationId: 'o', teamId, projectId };
}

function bind(role: Role, scopeType: ScopeType, scopeId: string, permissions: readonly string[] = []): Binding {
  return { role, scopeType, scopeId, permissions };
}

/** Whether an operation may require the permission at the scope. */
function isRequired(permission: string, { type }: Scope): boolean {
  return type === 'ORGANIZATION' ? isRequiredAtOrganization(permission) : isRequiredBelow(permission);
}

function lacking(wanted: ReadonlySet<string>, held: ReadonlySet<string>): string[] {
  return [...wanted].filter((name) => !held.has(name));
}

// The rules once more, written for reading rather than speed, from nothing but the catalogue and the bags.
function chainOf(scope: Scope): string[] {
  const chain = [`ORGANIZATION ${scope.organizationId}`];
  if (scope.type !== 'ORGANIZATION') chain.push(`TEAM ${scope.teamId}`);
  if (scope.type === 'PROJECT') chain.push(`PROJECT ${scope.projectId}`);
  return chain;
}

function isOnChain(binding: Binding, scope: Scope): boolean {
  return chainOf(scope).includes(`${binding.scopeType} ${binding.scopeId}`);
}

function oracleBinding(binding: Binding, scope: Scope): Set<string> {
  if (!isOnChain(binding, scope)) return new Set();
  const atOrganization = binding.scopeType === 'ORGANIZATION';
  if (binding.role === 'CUSTOM') {
    const granted = PERMISSIONS.filter((name) => {
      const manage = `${name.split(':')[0]}:manage`;
      const names = PERMISSIONS.includes(manage) ? [name, manage] : [name];
      return names.some((each) => binding.permissions.includes(each));
    });
    return new Set(granted.filter((name) => atOrganization || !isOrganizationOnly(name)));
  }
  if (binding.role === 'ADMIN') return new Set(atOrganization ? ROLE_PERMISSIONS.everything : ROLE_PERMISSIONS.ADMIN);
  return new Set(scope.type === 'ORGANIZATION' ? ['organization:view'] : ROLE_PERMISSIONS[binding.role]);
}

function oracleGrants(bindings: Grants, scope: Scope): Set<string> {
  return new Set(bindings.flatMap((binding) => [...oracleBinding(binding, scope)]));
}

function oracleMay(principal: Principal, permission: string, scope: Scope): boolean {
  if (principal.kind === 'project') {
    return scope.type === 'PROJECT' && scope.projectId === principal.projectId && PERMISSIONS.includes(permission);
  }
  const held = [principal.keyGrants, ...(principal.kind === 'personal' ? [principal.ownerGrants] : [])];
  return held.every((bindings) => oracleGrants(bindings, scope).has(permission));
}

const unknownNames = [
  ...['', 'project', 'project:', ':view', 'Project:view', 'project:view ', 'project:*', '*', 'traces:manage'],
  ...['cost:manage', 'nothing:manage', '__proto__', 'constructor', 'toString', 'hasOwnProperty'],
];
const anyName = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PERMISSIONS) },
  { weight: 1, arbitrary: fc.constantFrom(...unknownNames) },
  { weight: 1, arbitrary: fc.string() },
);
const anyRole = fc.constantFrom<Role>('ADMIN', 'MEMBER', 'VIEWER', 'CUSTOM');
const anyType = fc.constantFrom<ScopeType>('ORGANIZATION', 'TEAM', 'PROJECT');
const anyId = fc.constantFrom('o', 't1', 't2', 't3', 'p1', 'p2', 'x', 'xt', 'xp', 'gone', '');
const fittingIds = { ORGANIZATION: ['o'], TEAM: ['t1', 't2'], PROJECT: ['p1', 'p2', 't2'] };
const anyBinding: fc.Arbitrary<Binding> = anyType.chain((scopeType) =>
  fc.record({
    role: anyRole,
    scopeType: fc.constant(scopeType),
    scopeId: fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...fittingIds[scopeType]) }, anyId),
    // Built-in roles get a list too: it must not matter there.
    permissions: fc.array(anyName, { maxLength: 8 }),
  }),
);
const anyGrants = fc.array(anyBinding, { maxLength: 4 });
const anyPrincipal: fc.Arbitrary<Principal> = fc.oneof(
  fc.record({ kind: fc.constant('personal' as const), keyGrants: anyGrants, ownerGrants: anyGrants }),
  fc.record({ kind: fc.constant('service' as const), keyGrants: anyGrants }),
  fc.record({ kind: fc.constant('project' as const), projectId: fc.constantFrom('p1', 'p2', 't2', 'xp', 'gone', '') }),
);

describe('the catalogue', () => {
  it('holds 126 distinct names and knows no others', () => {
    expect(PERMISSIONS).toHaveLength(126);
    expect(new Set(PERMISSIONS).size).toBe(126);
    expect(PERMISSIONS.filter(isPermission)).toEqual(PERMISSIONS);
    expect(unknownNames.filter(isPermission)).toEqual([]);
  });

  it('reserves these resources for organization bindings', () => {
    const reserved = new Set(PERMISSIONS.filter(isOrganizationOnly).map((name) => name.split(':')[0]));
    expect([...reserved].sort()).toEqual([
      ...['activityMonitor', 'aiTools', 'anomalyRules', 'complianceExport', 'gatewaySpend', 'governance'],
      ...['ingestionSources', 'ops', 'organization', 'webhookEndpoints'],
    ]);
    expect(unknownNames.filter(isOrganizationOnly)).toEqual([]);
  });

  it('sizes the bags 21, 75, 96 and 126, each inside the next, and reserves the rest', () => {
    const { VIEWER, MEMBER, ADMIN, everything } = ROLE_PERMISSIONS;
    expect([VIEWER, MEMBER, ADMIN, everything].map((bag) => bag.size)).toEqual([21, 75, 96, 126]);
    expect(lacking(VIEWER, MEMBER)).toEqual([]);
    expect(lacking(MEMBER, ADMIN)).toEqual([]);
    expect([...ADMIN].filter(isOrganizationOnly)).toEqual([]);
  });
});

describe('expand', () => {
  it('lets manage imply every other action of its resource', () => {
    const virtualKeys = PERMISSIONS.filter((name) => name.startsWith('virtualKeys:'));
    expect(expand(['virtualKeys:manage'])).toEqual(new Set(virtualKeys));
    expect(expand(['gatewayGuardrails:manage']).has('gatewayGuardrails:detach')).toBe(true);
  });

  it('knows no other implication and no other names', () => {
    for (const name of PERMISSIONS.filter((each) => !each.endsWith(':manage'))) {
      expect([...expand([name, ...unknownNames])]).toEqual([name]);
    }
  });
});

describe('grants', () => {
  const held = (scope: Scope, binding: Binding): Set<string> =>
    new Set(PERMISSIONS.filter((permission) => grants([binding], permission, scope)));

  it('an ADMIN of the organization may do everything in it and nothing elsewhere', () => {
    for (const scope of ours)
      expect(held(scope, bind('ADMIN', 'ORGANIZATION', 'o'))).toEqual(ROLE_PERMISSIONS.everything);
    for (const scope of foreign) expect(held(scope, bind('ADMIN', 'ORGANIZATION', 'o')).size).toBe(0);
  });

  it.each(['MEMBER', 'VIEWER'] as const)('a %s may view the organization and use the bag everywhere below', (role) => {
    const binding = bind(role, 'ORGANIZATION', 'o');
    expect(held(organization, binding)).toEqual(new Set(['organization:view']));
    for (const scope of [team1, emptyTeam, project1]) expect(held(scope, binding)).toEqual(ROLE_PERMISSIONS[role]);
  });

  it.each(['ADMIN', 'MEMBER', 'VIEWER'] as const)('a %s of a team reaches its projects, nothing else', (role) => {
    for (const scope of [team1, project1])
      expect(held(scope, bind(role, 'TEAM', 't1'))).toEqual(ROLE_PERMISSIONS[role]);
    for (const scope of [organization, team2, project2]) expect(held(scope, bind(role, 'TEAM', 't1')).size).toBe(0);
  });

  it('a CUSTOM list at the organization counts on every question, below it only what a team can hold', () => {
    const list = ['organization:manage', 'webhookEndpoints:view', 'traces:create'];
    expect(held(project1, bind('CUSTOM', 'ORGANIZATION', 'o', list))).toEqual(expand(list));
    expect(held(project1, bind('CUSTOM', 'TEAM', 't1', list))).toEqual(new Set(['traces:create']));
  });

  it.each([
    ['null', null],
    ['a string', 'project:view'],
    ['an object', { 0: 'project:view', length: 1 }],
    ['empty', []],
    ['of things that are not names', [null, 1, {}, ['project:view'], 'project:vie']],
  ])('a CUSTOM list that is %s grants nothing', (_what, list) => {
    const damaged: Binding = Object.assign(bind('CUSTOM', 'PROJECT', 'p1'), { permissions: list });
    expect(held(project1, damaged).size).toBe(0);
  });

  it.each([
    ...['OWNER', 'admin', '', '__proto__', 'constructor', null].map((role) => ({ role })),
    ...['ROOT', 'organization', '', null].map((scopeType) => ({ scopeType })),
  ])('an unreadable %j grants nothing', (damage) => {
    const damaged: Binding = Object.assign(bind('ADMIN', 'ORGANIZATION', 'o', PERMISSIONS), damage);
    for (const scope of ours) expect(held(scope, damaged).size).toBe(0);
  });
});

describe('may', () => {
  it('equals a brute-force reading of the rules, and so do the questions about all permissions at once', () => {
    fc.assert(
      fc.property(anyPrincipal, anyName, (principal, anything) => {
        for (const scope of everywhere) {
          const expected = PERMISSIONS.filter((permission) => oracleMay(principal, permission, scope));
          expect(PERMISSIONS.filter((permission) => may(principal, permission, scope))).toEqual(expected);
          expect(permissionsAt(principal, scope)).toEqual(new Set(expected));
          expect(holdsAnything(principal, scope)).toBe(expected.length > 0);
          expect(may(principal, anything, scope)).toBe(oracleMay(principal, anything, scope));
        }
      }),
      { numRuns: runsOf(300) },
    );
  });

  it('never says yes to a name outside the catalogue', () => {
    const admin = [bind('ADMIN', 'ORGANIZATION', 'o'), bind('CUSTOM', 'ORGANIZATION', 'o', unknownNames)];
    for (const permission of unknownNames) {
      expect(may({ kind: 'personal', keyGrants: admin, ownerGrants: admin }, permission, project1)).toBe(false);
      expect(may({ kind: 'service', keyGrants: admin }, permission, organization)).toBe(false);
      expect(may({ kind: 'project', projectId: 'p1' }, permission, project1)).toBe(false);
    }
  });

  it('shrinks a key with its owner and never widens it', () => {
    const keyGrants = [bind('ADMIN', 'ORGANIZATION', 'o')];
    const demoted: Principal = { kind: 'personal', keyGrants, ownerGrants: [bind('VIEWER', 'ORGANIZATION', 'o')] };
    expect(permissionsAt(demoted, project1)).toEqual(ROLE_PERMISSIONS.VIEWER);
    const narrow = [bind('VIEWER', 'PROJECT', 'p1')];
    const promoted: Principal = { kind: 'personal', keyGrants: narrow, ownerGrants: keyGrants };
    expect(permissionsAt(promoted, project1)).toEqual(ROLE_PERMISSIONS.VIEWER);
    expect(permissionsAt(promoted, project2).size).toBe(0);
  });
});

describe('covers', () => {
  const nothingOfViewer = { covered: false, missing: [...ROLE_PERMISSIONS.VIEWER].sort() };
  const directory: Directory = {
    locate: (scopeType, scopeId) => ours.find((scope) => chainOf(scope).at(-1) === `${scopeType} ${scopeId}`) ?? null,
  };

  it('equals a brute-force reading over every scope at and below the requested one', () => {
    fc.assert(
      fc.property(anyGrants, anyBinding, (holder, requested) => {
        const top = directory.locate(requested.scopeType, requested.scopeId);
        fc.pre(top !== null);
        const above = holder.filter((binding) => isOnChain(binding, top));
        const missing = new Set<string>();
        for (const scope of ours.filter((each) => isOnChain(requested, each))) {
          const held = oracleGrants(above, scope);
          const exceeding = lacking(oracleBinding(requested, scope), held);
          for (const name of exceeding.filter((each) => isRequired(each, scope))) missing.add(name);
        }
        expect(covers(holder, requested, directory)).toEqual(
          missing.size === 0 ? { covered: true } : { covered: false, missing: [...missing].sort() },
        );
      }),
      { numRuns: runsOf(3_000) },
    );
  });

  it('a covered grant gives its holder nothing the coverer lacks, now or in teams to come', () => {
    fc.assert(
      fc.property(anyGrants, anyBinding, (holder, requested) => {
        if (!covers(holder, requested, directory).covered) return;
        for (const scope of [...ours, inTeam('later'), inProject('later', 'too')]) {
          const gained = permissionsAt({ kind: 'service', keyGrants: [requested] }, scope);
          const beyond = lacking(gained, permissionsAt({ kind: 'service', keyGrants: holder }, scope));
          expect(beyond.filter((each) => isRequired(each, scope))).toEqual([]);
        }
      }),
      { numRuns: runsOf(3_000) },
    );
  });

  it('a binding at a known scope covers itself', () => {
    fc.assert(
      fc.property(anyBinding, (binding) => {
        const known = directory.locate(binding.scopeType, binding.scopeId) !== null;
        expect(covers([binding], binding, directory).covered).toBe(known);
      }),
    );
  });

  it.each(['MEMBER', 'VIEWER'] as const)(
    'a %s covers a list at the organization of what the role gives there or below',
    (role) => {
      const holder = [bind(role, 'ORGANIZATION', 'o')];
      const list = ['organization:view', 'team:view', 'traces:view', 'evaluations:view'];
      expect(covers(holder, bind('CUSTOM', 'ORGANIZATION', 'o', list), directory)).toEqual({ covered: true });
    },
  );

  it('what a role gives only below does not cover what operations require at the organization', () => {
    const member = [bind('MEMBER', 'ORGANIZATION', 'o')];
    const list = ['auditLog:view', 'gatewayProviders:view', 'organization:manage', 'traces:view', 'virtualKeys:view'];
    const missing = ['auditLog:view', 'gatewayProviders:view', 'organization:delete', 'organization:manage'];
    expect(covers(member, bind('CUSTOM', 'ORGANIZATION', 'o', list), directory)).toEqual({
      covered: false,
      missing: [...missing, 'virtualKeys:view'],
    });
  });

  it('holding every project of a team does not cover the team', () => {
    const holder = [bind('ADMIN', 'PROJECT', 'p1'), bind('ADMIN', 'PROJECT', 't2')];
    expect(covers(holder, bind('VIEWER', 'TEAM', 't1'), directory)).toEqual(nothingOfViewer);
  });

  it('a role at the organization is compared at teams and projects even while there are none', () => {
    const empty: Directory = { locate: (type) => (type === 'ORGANIZATION' ? organization : null) };
    const viewOnly = [bind('CUSTOM', 'ORGANIZATION', 'o', ['organization:view'])];
    expect(covers(viewOnly, bind('VIEWER', 'ORGANIZATION', 'o'), empty)).toEqual(nothingOfViewer);
  });

  it('a scope that is unknown, archived or foreign is covered by no key, and the refusal names no permission', () => {
    const admin = bind('ADMIN', 'ORGANIZATION', 'o');
    const requested = bind('CUSTOM', 'PROJECT', 'p1', ['project:view']);
    expect(covers([admin, requested], requested, { locate: () => null })).toEqual({ covered: false, missing: [] });
  });
});
