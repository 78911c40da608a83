import { afterAll, beforeAll, expect, it } from 'vitest';
import { ProjectService } from '../../../gen/spandrel/v1/organization_pb.js';
import type { JsonValue } from '../../../src/domain/fault.ts';
import { createFixture, type Fixture, freshName } from './access-fixture.ts';
import { ask, SURFACES, type Surface } from './question.ts';

const { updateProject } = ProjectService.method;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

type Grant = { readonly role: string; readonly at: 'O' | 'T1' | 'T2'; readonly permissions?: readonly string[] };
type Mover = {
  /** Null: a service key. */
  readonly owner: readonly Grant[] | null;
  readonly key: readonly Grant[];
};

const MOVE = ['project:view', 'project:update', 'project:create'];
const wide: Grant = { role: 'ADMIN', at: 'O' };
const member: Grant = { role: 'MEMBER', at: 'O' };
const move: Grant = { role: 'CUSTOM', at: 'O', permissions: MOVE };

function bindingOf({ role, at }: Grant) {
  return at === 'O'
    ? { role, scopeType: 'ORGANIZATION', scopeId: fixture.scopeIds.organization }
    : { role, scopeType: 'TEAM', scopeId: fixture.teams[at] };
}

/** Adds a key, with a new member as its owner, if any; returns its token. */
async function addMover({ owner, key }: Mover): Promise<string> {
  const [permissions = []] = key.flatMap((grant) => (grant.permissions === undefined ? [] : [grant.permissions]));
  const restriction = permissions.length === 0 ? {} : { permissionMode: 'restricted', permissions };
  const body = { name: freshName('key'), bindings: key.map(bindingOf), ...restriction };
  if (owner === null) return (await fixture.act('POST', '/api/api-keys', { ...body, keyType: 'service' })).token;
  // A key may not exceed its owner's role, so the owner is demoted afterwards.
  const userId = await fixture.addMember('ADMIN');
  const { token } = await fixture.act('POST', '/api/api-keys', { ...body, assignedToUserId: userId });
  const [role] = owner.flatMap((grant) => (grant.at === 'O' && grant.role !== 'CUSTOM' ? [grant.role] : []));
  await fixture.act('PATCH', `/api/organization/members/${userId}`, { role: role ?? 'EXTERNAL' });
  for (const grant of owner.filter(({ at, role }) => at !== 'O' || role === 'CUSTOM')) {
    const listed = grant.permissions === undefined ? {} : { permissions: grant.permissions };
    await fixture.act('POST', '/api/role-bindings', { userId, ...bindingOf(grant), ...listed });
  }
  return token;
}

async function moveToT2(surface: Surface, token: string, refused: boolean) {
  const id = await fixture.addProject();
  const body: { readonly [name: string]: JsonValue } = { teamId: fixture.teams.T2 };
  const wanted = refused ? { status: 403, code: 'role_binding_scope_violation' } : { status: 200, code: null };
  const outcome = await ask(
    surface,
    { method: updateProject, parameters: { id }, body },
    { address: fixture.app.address, token, wanted },
  );
  const { teamId } = await fixture.act('GET', `/api/projects/${id}`);
  return { id, outcome, isMoved: teamId === fixture.teams.T2 };
}

const GAINS: readonly (readonly [string, Mover])[] = [
  ['a service key', { owner: null, key: [move, { role: 'ADMIN', at: 'T2' }] }],
  ['a member with more in the new team', { owner: [member, { role: 'ADMIN', at: 'T2' }], key: [wide] }],
  ['a key with more in the new team', { owner: [wide], key: [member, { role: 'ADMIN', at: 'T2' }] }],
  ['who would only look there', { owner: null, key: [move, { role: 'VIEWER', at: 'T2' }] }],
];

const NO_GAINS: readonly (readonly [string, Mover])[] = [
  ['nothing in the new team', { owner: null, key: [move] }],
  ['everything everywhere', { owner: [wide, { role: 'ADMIN', at: 'T2' }], key: [wide, { role: 'ADMIN', at: 'T2' }] }],
  [
    'as much where it comes from',
    { owner: null, key: [move, { role: 'ADMIN', at: 'T1' }, { role: 'ADMIN', at: 'T2' }] },
  ],
  ['less in the new team', { owner: [member, { role: 'VIEWER', at: 'T2' }], key: [member] }],
];

for (const surface of SURFACES) {
  it.each(GAINS)(`over ${surface}, %s gains nothing by moving a project`, async (_, mover) => {
    const { id, outcome, isMoved } = await moveToT2(surface, await addMover(mover), true);
    expect(outcome).toMatchObject({ status: 403, code: 'role_binding_scope_violation' });
    const meta = surface === 'REST' ? outcome.body : outcome.body.meta;
    expect(meta).toMatchObject({ scopeType: 'PROJECT', scopeId: id, missingPermissions: expect.anything() });
    expect(isMoved).toBe(false);
  });

  it.each(NO_GAINS)(`over ${surface}, a project is moved by who has %s`, async (_, mover) => {
    const { outcome, isMoved } = await moveToT2(surface, await addMover(mover), false);
    expect({ status: outcome.status, code: outcome.code, isMoved }).toEqual({ status: 200, code: null, isMoved: true });
  });
}
