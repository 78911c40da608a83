/** Hidden projects and teams get the same answers as missing ones, for every request. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { RoleBindingService } from '../../../gen/spandrel/v1/organization_pb.js';
import { callRest } from '../../support/surfaces.ts';
import { createFixture, type Fixture, freshName } from './access-fixture.ts';
import { ask, type Question, SURFACES, type Surface } from './question.ts';

const { createApiKey, updateApiKey } = ApiKeyService.method;
const { createRoleBinding } = RoleBindingService.method;
const { getEvaluator } = EvaluatorService.method;

let fixture: Fixture;
let archived: string;
beforeAll(async () => {
  fixture = await createFixture();
  archived = await fixture.addProject();
  await fixture.act('DELETE', `/api/projects/${archived}`);
});
afterAll(async () => {
  await fixture.app.close();
});

type ScopeRef = readonly ['PROJECT' | 'TEAM', string];
type GrantRequest = { readonly scope: ScopeRef; readonly role: string };

/** Returns the answer without request-specific values and the requested id. */
async function answerTo(surface: Surface, question: Question, { token, id }: { token: string; id: string }) {
  const wanted = { status: 0, code: null };
  const { code, body } = await ask(surface, question, { address: fixture.app.address, token, wanted });
  const text = JSON.stringify(body).replaceAll(id, 'the id');
  return { code, text: text.replace(/[0-9a-f]{32}|[0-9a-f]{16}/g, 'a trace id') };
}

/** All requests that give, or seem to give, a grant at a place. */
function grantsAt({ scope: [scopeType, scopeId], role }: GrantRequest, keyId: string): readonly Question[] {
  const binding = { role, scopeType, scopeId };
  const list = ['organization:view'];
  const atOrganization = { role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: fixture.scopeIds.organization };
  const restricted = { bindings: [atOrganization, binding], permissionMode: 'restricted', permissions: list };
  const content = role === 'CUSTOM' ? restricted : { bindings: [binding] };
  const listed = role === 'CUSTOM' ? { permissions: list } : {};
  return [
    { method: createApiKey, body: { name: freshName('key'), ...content } },
    { method: updateApiKey, parameters: { id: keyId }, body: { permissionMode: 'all', ...content } },
    { method: createRoleBinding, body: { userId: fixture.members.vie, ...binding, ...listed } },
  ];
}

it.each(SURFACES)(
  'over %s a hidden scope is refused like an unknown one, also for what would give nothing',
  async (surface) => {
    const { tokens, scopeIds, projects, teams, foreign } = fixture;
    const bindings = [{ role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: scopeIds.organization }];
    const body = { bindings, permissionMode: 'restricted', permissions: ['organization:manage'] };
    const { id: keyId } = await fixture.addKey({ owner: 'adm', body });
    const answersAt = ({ scope, role }: GrantRequest) =>
      Promise.all(
        grantsAt({ scope, role }, keyId).map((question) =>
          answerTo(surface, question, { token: tokens.PN, id: scope[1] }),
        ),
      );
    const alike: readonly (readonly [ScopeRef[0], readonly string[]])[] = [
      ['PROJECT', ['project_000000000000000000000', projects.P1, foreign.projectId, archived]],
      ['TEAM', ['team_000000000000000000000', teams.T1, foreign.teamId]],
    ];
    for (const [scopeType, ids] of alike) {
      for (const role of ['CUSTOM', 'VIEWER']) {
        const [unknown = [], ...others] = await Promise.all(
          ids.map((id) => answersAt({ scope: [scopeType, id], role })),
        );
        expect(unknown.map(({ code }) => code)).toEqual([
          'api_key_scope_violation',
          'api_key_scope_violation',
          'role_binding_scope_violation',
        ]);
        for (const answers of others) expect(answers).toEqual(unknown);
      }
    }
  },
);

it.each(SURFACES)('over %s missing permissions are named only to callers who see the scope', async (surface) => {
  const { projects, scopeIds, teams } = fixture;
  const manage = { role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: scopeIds.organization };
  const holding = async (...permissions: string[]) => {
    const body = { bindings: [manage], permissionMode: 'restricted', permissions };
    return (await fixture.addKey({ owner: null, body })).token;
  };
  const blind = await holding('organization:manage', 'traces:view', 'team:view');
  const seeing = await holding('organization:manage', 'project:view');
  const missingAt = async (token: string, [scopeType, scopeId]: ScopeRef) => {
    const question = {
      method: createRoleBinding,
      body: { userId: fixture.members.vie, role: 'CUSTOM', scopeType, scopeId, permissions: ['cost:view'] },
    };
    const wanted = { status: 403, code: 'role_binding_scope_violation' };
    const { code, body } = await ask(surface, question, { address: fixture.app.address, token, wanted });
    expect(code).toBe(wanted.code);
    const meta = surface === 'REST' ? body : body.meta;
    return meta.missingPermissions;
  };
  expect(await missingAt(blind, ['PROJECT', projects.P1])).toBeUndefined();
  expect(await missingAt(seeing, ['PROJECT', projects.P1])).toEqual(['cost:view']);
  expect(await missingAt(blind, ['TEAM', teams.T1])).toEqual(['cost:view']);
  expect(await missingAt(seeing, ['TEAM', teams.T1])).toBeUndefined();
});

it.each(SURFACES)('over %s a project at which the key holds nothing is as unknown as any other', async (surface) => {
  const { tokens, projects, foreign } = fixture;
  const named = [projects.P2, 'project_000000000000000000000', foreign.projectId, archived, 'x'.repeat(300)];
  for (const token of [tokens.PP, tokens.SP]) {
    const answers = [];
    for (const id of named) {
      const question = { method: getEvaluator, parameters: { id_or_slug: 'any' }, headers: { 'x-project-id': id } };
      answers.push(await answerTo(surface, question, { token, id }));
    }
    expect(answers.map(({ code }) => code)).toEqual(named.map(() => 'unknown_project'));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  }
});

it('a project id in the user of Basic is checked like one in X-Project-Id', async () => {
  const { app, tokens, projects, foreign } = fixture;
  const read = async (projectId: string) => {
    const authorization = `Basic ${Buffer.from(`${projectId}:${tokens.PP}`).toString('base64')}`;
    const { status, body } = await callRest(app.address, { path: '/api/evaluators/any', headers: { authorization } });
    return `${status} ${body.code}`;
  };
  expect(await read(projects.P1)).toBe('404 evaluator_not_found');
  for (const id of [projects.P2, archived, foreign.projectId, 'nope'])
    expect(await read(id)).toBe('401 unknown_project');
});
