/** docs/access.md refers to this test: two organizations of one installation cannot see each other. */

import { randomBytes } from 'node:crypto';
import { type DescMethodUnary, getOption } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { EventService } from '../../../gen/spandrel/v1/events_pb.js';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import {
  AuditLogService,
  MemberService,
  OrganizationService,
  ProjectService,
  RoleBindingService,
  TeamService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import { SpendService } from '../../../gen/spandrel/v1/spend_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { addOrganization } from '../../../src/domain/organization/bootstrap.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { ask, type Question, SURFACES, type Surface } from '../access/question.ts';

type Side = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly adminKey: string;
  readonly projectKey: string;
  /** All ids in the organization. */
  readonly ids: readonly string[];
  readonly traceId: string;
  readonly endpointId: string;
  readonly bindingId: string;
};

let app: TestApp;
let sides: readonly (readonly [own: Side, other: Side])[];
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' } });
  const deps = { store: app.store.installation, rootKeys: app.rootKeys, keyPrefixes: ['sk-lw-'], random: randomBytes };
  const options = { organizationName: 'Second', teamName: 'T', projectName: 'P', adminEmail: 'ann@example.com' };
  const printed = new Map(await addOrganization(deps, options, Date.now()));
  const named = (name: string) => printed.get(name) ?? '';
  const second = await fill({
    organizationId: named('SPANDREL_ORGANIZATION_ID'),
    projectId: named('SPANDREL_PROJECT_ID'),
    userId: named('SPANDREL_ADMIN_USER_ID'),
    adminKey: named('SPANDREL_ADMIN_KEY'),
    projectKey: named('SPANDREL_PROJECT_KEY'),
  });
  const first = await fill(app);
  sides = [
    [first, second],
    [second, first],
  ];
});
afterAll(async () => {
  await app.close();
});

async function rest(token: string, verb: string, path: string, body?: object): Promise<Body> {
  const sent = body === undefined ? {} : { body };
  const answer = await callRest(app.address, { verb, path, headers: { 'x-auth-token': token }, ...sent });
  if (answer.status >= 300) throw new Error(`${verb} ${path}: ${answer.text}`);
  return answer.body;
}

type Keys = Pick<Side, 'organizationId' | 'projectId' | 'userId' | 'adminKey' | 'projectKey'>;

/** Adds one of everything to an organization. */
async function fill({ organizationId, projectId, userId, adminKey, projectKey }: Keys): Promise<Side> {
  const [team] = (await rest(adminKey, 'GET', '/api/teams')).data;
  const member = await rest(adminKey, 'POST', '/api/organization/members', {
    email: `${hex(8)}@example.com`,
    name: 'M',
    role: 'EXTERNAL',
  });
  const scope = { scopeType: 'PROJECT', scopeId: projectId };
  const binding = await rest(adminKey, 'POST', '/api/role-bindings', {
    userId: member.userId,
    role: 'MEMBER',
    ...scope,
  });
  const key = await rest(adminKey, 'POST', '/api/api-keys', { name: 'k', keyType: 'service' });
  const endpoint = { url: 'http://127.0.0.1:1/', enabled_events: ['gateway.budget.*'] };
  const { data } = await rest(adminKey, 'POST', '/api/webhooks/v1/endpoints', endpoint);
  const traceId = hex(32);
  await rest(projectKey, 'POST', '/api/collector', llmTrace(Date.now(), traceId));
  const ids = [organizationId, team.id, projectId, userId, member.userId, binding.id, key.id, data.id, traceId];
  return {
    ...{ organizationId, projectId, userId, adminKey, projectKey },
    ...{ ids, traceId, endpointId: data.id, bindingId: binding.id },
  };
}

async function bodyOf(surface: Surface, token: string, question: Question, wanted = 'success'): Promise<Body> {
  const [status = '', code = null] = wanted === 'success' ? [] : wanted.split(' ');
  const success = getOption(question.method, policy).successStatus;
  const expected = { status: wanted === 'success' ? success : Number(status), code };
  const outcome = await ask(surface, question, { address: app.address, token, wanted: expected });
  const { body, ...answered } = outcome;
  expect(answered, `${question.method.name} over ${surface}: ${JSON.stringify(body)}`).toEqual(expected);
  return body;
}

// The last instant that both surfaces take.
const PERIOD = { from: '0', to: '253402300799999' };
const LISTS: readonly (readonly [DescMethodUnary, Question['query']?])[] = [
  [OrganizationService.method.getOrganization],
  [TeamService.method.listTeams],
  [ProjectService.method.listProjects],
  [MemberService.method.listMembers],
  [RoleBindingService.method.listRoleBindings],
  [ApiKeyService.method.listApiKeys, { scope: 'organization', includeRevoked: 'true' }],
  [AuditLogService.method.listAuditLog],
  [EndpointService.method.listEndpoints],
  [EventService.method.listEvents, PERIOD],
  [SpendService.method.querySpend, { ...PERIOD, group_by: 'project' }],
];

describe.each(SURFACES)('over %s', (surface) => {
  it('every list holds what is of the own organization, and nothing of the other', async () => {
    for (const [own, other] of sides) {
      const seen: string[] = [];
      for (const [method, query = {}] of LISTS) {
        const text = JSON.stringify(await bodyOf(surface, own.adminKey, { method, query }));
        for (const id of other.ids) expect(text, `${method.name} of ${id}`).not.toContain(id);
        seen.push(text);
      }
      for (const id of own.ids) expect(seen.join(), id).toContain(id);
    }
  });

  it('records of the other organization are not found, neither to read nor to change', async () => {
    for (const [own, other] of sides) {
      const key = { id: other.adminKey.slice('sk-lw-'.length).split('_')[0] ?? '' };
      const [project, member] = [{ id: other.projectId }, { user_id: other.userId }];
      const [binding, endpoint] = [{ id: other.bindingId }, { id: other.endpointId }];
      const cases: readonly (readonly [DescMethodUnary, Question['parameters'] & object, string, object?])[] = [
        [ApiKeyService.method.getApiKey, key, 'api_key_not_found'],
        [ApiKeyService.method.updateApiKey, key, 'api_key_not_found', { name: 'x' }],
        [ApiKeyService.method.rotateApiKey, key, 'api_key_not_found', {}],
        [ApiKeyService.method.revokeApiKey, key, 'api_key_not_found'],
        [ProjectService.method.getProject, project, 'project_not_found'],
        [ProjectService.method.updateProject, project, 'project_not_found', { name: 'x' }],
        [ProjectService.method.rotateProjectKey, project, 'project_not_found', {}],
        [ProjectService.method.archiveProject, project, 'project_not_found'],
        [MemberService.method.updateMember, member, 'member_not_found', { name: 'x' }],
        [MemberService.method.removeMember, member, 'member_not_found'],
        [RoleBindingService.method.deleteRoleBinding, binding, 'role_binding_not_found'],
        [EndpointService.method.getEndpoint, endpoint, 'webhook_endpoint_not_found'],
        [EndpointService.method.updateEndpoint, endpoint, 'webhook_endpoint_not_found', { description: 'x' }],
        [EndpointService.method.rollEndpointSecret, endpoint, 'webhook_endpoint_not_found', {}],
        [EndpointService.method.archiveEndpoint, endpoint, 'webhook_endpoint_not_found'],
      ];
      for (const [method, parameters, code, body] of cases) {
        const sent = body === undefined ? {} : { body: body as Question['body'] & object };
        await bodyOf(surface, own.adminKey, { method, parameters, ...sent }, `404 ${code}`);
      }
    }
  });

  it('no key reaches a project of the other, and no grant is possible there', async () => {
    for (const [own, other] of sides) {
      const headers = { 'x-project-id': other.projectId };
      const trace = { method: TraceService.method.getTrace, parameters: { trace_id: other.traceId } };
      await bodyOf(surface, own.adminKey, { ...trace, headers }, '401 unknown_project');
      await bodyOf(surface, own.projectKey, { ...trace, headers }, '404 trace_not_found');
      const evaluator = { method: EvaluatorService.method.getEvaluator, parameters: { id_or_slug: 'none' } };
      await bodyOf(surface, own.adminKey, { ...evaluator, headers }, '401 unknown_project');
      for (const [scopeType, scopeId] of [
        ['PROJECT', other.projectId],
        ['ORGANIZATION', other.organizationId],
      ] as const) {
        const bindings = [{ role: 'VIEWER', scopeType, scopeId }];
        const mint = { method: ApiKeyService.method.createApiKey, body: { name: 'k', keyType: 'service', bindings } };
        await bodyOf(surface, own.adminKey, mint, '403 api_key_scope_violation');
      }
      const grant = { userId: other.userId, role: 'VIEWER', scopeType: 'PROJECT', scopeId: own.projectId };
      const bind = { method: RoleBindingService.method.createRoleBinding, body: grant };
      await bodyOf(surface, own.adminKey, bind, '404 member_not_found');
      const own_ = { 'x-project-id': own.projectId };
      const found = { method: TraceService.method.getTrace, parameters: { trace_id: own.traceId }, headers: own_ };
      await bodyOf(surface, own.adminKey, found);
    }
  });
});
