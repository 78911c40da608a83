/** Access to all but API keys: the organization, its parts and members, traces, evaluators, events. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { EventService } from '../../../gen/spandrel/v1/events_pb.js';
import { GatewayService, ReportedRequestStatus } from '../../../gen/spandrel/v1/gateway_pb.js';
import {
  AuditLogService,
  MemberService,
  OrganizationService,
  ProjectService,
  RoleBindingService,
  TeamService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import { PermissionService } from '../../../gen/spandrel/v1/permissions_pb.js';
import { OverrideMatch, PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { SpendService } from '../../../gen/spandrel/v1/spend_pb.js';
import { ThreadService } from '../../../gen/spandrel/v1/threads_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { asMessage, llmTrace } from '../../support/fixtures.ts';
import { type Fixture, freshName } from './access-fixture.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const { getOrganization, updateOrganization } = OrganizationService.method;
const { listTeams, createTeam } = TeamService.method;
const { listProjects, createProject, getProject, updateProject, archiveProject, rotateProjectKey } =
  ProjectService.method;
const { listMembers, createMember, updateMember, removeMember } = MemberService.method;
const { listRoleBindings, createRoleBinding, deleteRoleBinding } = RoleBindingService.method;
const { listEvents, getEvent } = EventService.method;
const { querySpend } = SpendService.method;
const { reportRequests, reportGovernanceEvents } = GatewayService.method;
const { getEvaluator, listEvaluators, createEvaluator, updateEvaluator, deleteEvaluator } = EvaluatorService.method;
const { getDataset, listDatasets, createDataset, addDatasetEntries, addTracesToDataset, deleteDataset } =
  DatasetService.method;
const { collectTrace, getTrace, getProjectSettings, updateProjectSettings } = TraceService.method;
const { queryAnalytics, getUserStats, listTraceFacets, suggestTraceValues } = TraceService.method;
const { queryEvaluationAnalytics } = EvaluationService.method;
const { searchTraces, exportTraces, tailTraces, getThread, updateTraceMetadata, deleteTrace, validateCredential } =
  TraceService.method;

const { listOverrides, createOverride, deleteOverride, matchPrice } = PricingService.method;

const request = { gateway_request_id: 'gw-1' };
const requestMessage = { gatewayRequestId: 'gw-1', status: ReportedRequestStatus.SUCCESS };
const virtualKey = { type: 'gateway.virtual_key.created', name: 'a key' };
const virtualKeyMessage = {
  type: virtualKey.type,
  subject: { case: 'virtualKey', value: { virtualKeyId: 'vk', name: 'a key', displayPrefix: '' } },
} as const;
const UNKNOWN = 'project_000000000000000000000';

/** Listings come first, before the other rows add to them; another ADMIN comes last. */
const TABLE = `
row                                    | PROJ | PA    | PN   | PQ   | PM   | PV    | PR    | PP   | SA    | SM   | SV   | SP
list projects                          | 401c | P1+P2 | none | none | none | P1+P2 | P1+P2 | P1   | P1+P2 | none | none | P1
list teams                             | 401c | T1+T2 | none | none | none | T1+T2 | T1+T2 | none | T1+T2 | none | none | none
list members                           | 401c | PEOPLE | PEOPLE | 403p | PEOPLE | 403p | 403p | 403p | PEOPLE | PEOPLE | 403p | 403p
list role bindings                     | 401c | GRANTS | GRANTS | 403p | GRANTS | 403p | 403p | 403p | GRANTS | GRANTS | 403p | 403p
read the organization                  | 401c | 200   | 200  | 200  | 200  | 200   | 200   | 403p | 200   | 200  | 200  | 403p
rename the organization                | 401c | 200   | 200  | 403p | 200  | 403p  | 403p  | 403p | 200   | 200  | 403p | 403p
list the price overrides               | 401c | 200   | 200  | 200  | 200  | 200   | 200   | 403p | 200   | 200  | 200  | 403p
set a price                            | 401c | 201   | 201  | 403p | 201  | 403p  | 403p  | 403p | 201   | 201  | 403p | 403p
take back a price                      | 401c | 200   | 200  | 403p | 200  | 403p  | 403p  | 403p | 200   | 200  | 403p | 403p
read P1                                | 401c | 200   | 404  | 404  | 404  | 200   | 200   | 200  | 200   | 404  | 404  | 200
read P2                                | 401c | 200   | 404  | 404  | 404  | 200   | 200   | 404  | 200   | 404  | 404  | 404
read a project elsewhere               | 401c | 404   | 404  | 404  | 404  | 404   | 404   | 404  | 404   | 404  | 404  | 404
change P1                              | 401c | 200   | 404  | 404  | 404  | 200   | 403p  | 200  | 200   | 404  | 404  | 200
rotate the key of P1                   | 401c | 200   | 404  | 404  | 404  | 403p  | 403p  | 403p | 200   | 404  | 404  | 200
archive P1                             | 401c | 200   | 404  | 404  | 404  | 403p  | 403p  | 403p | 200   | 404  | 404  | 200
create a project in T1                 | 401c | 201   | 403p | 403p | 403p | 201   | 403p  | 403p | 201   | 403p | 403p | 403p
create a team                          | 401c | 201   | 403p | 403p | 403p | 403p  | 403p  | 403p | 201   | 403p | 403p | 403p
list the audit log                     | 401c | 200   | 403p | 403p | 403p | 403p  | 403p  | 403p | 200   | 403p | 403p | 403p
list the permissions                   | 401c | 200   | 200  | 200  | 200  | 200   | 200   | 200  | 200   | 200  | 200  | 200
add an external member                 | 401c | 201   | 201  | 403p | 201  | 403p  | 403p  | 403p | 201   | 201  | 403p | 403p
add a viewer                           | 401c | 201   | 403s | 403p | 403s | 403p  | 403p  | 403p | 201   | 403s | 403p | 403p
disable a member                       | 401c | 200   | 403s | 403p | 403s | 403p  | 403p  | 403p | 200   | 403s | 403p | 403p
remove a member                        | 401c | 200   | 403s | 403p | 403s | 403p  | 403p  | 403p | 200   | 403s | 403p | 403p
grant VIEWER at P1                     | 401c | 201   | 403s | 403p | 403s | 403p  | 403p  | 403p | 201   | 403s | 403p | 403p
take back VIEWER at P1                 | 401c | 200   | 403s | 403p | 403s | 403p  | 403p  | 403p | 200   | 403s | 403p | 403p
demote the last administrator          | 401c | 409   | 403a | 403p | 403a | 403p  | 403p  | 403p | 409   | 403a | 403p | 403p
disable the last administrator         | 401c | 409   | 403a | 403p | 403a | 403p  | 403p  | 403p | 409   | 403a | 403p | 403p
remove the last administrator          | 401c | 409   | 403a | 403p | 403a | 403p  | 403p  | 403p | 409   | 403a | 403p | 403p
list events                            | 401c | 200   | 403p | 403p | 403p | 403p  | 403p  | 403p | 200   | 403p | 403p | 403p
read an event                          | 401c | 200   | 403p | 403p | 403p | 403p  | 403p  | 403p | 200   | 403p | 403p | 403p
sum up what was spent                  | 401c | 200   | 403p | 403p | 403p | 403p  | 403p  | 403p | 200   | 403p | 403p | 403p
report a request of P1                 | 200  | 200   | 403p | 403p | 403p | 403p  | 403p  | 403p | 200   | 403p | 403p | 403p
report a governance event              | 401c | 200   | 403p | 403p | 403p | 403p  | 403p  | 403p | 200   | 403p | 403p | 403p
collect a trace in P1                  | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
read a trace of P1                     | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
match a price in P1                    | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
search the traces of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
list the facets of traces of P1        | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
suggest values of traces of P1         | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
sum up the evaluations of P1           | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
sum up the traces of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
sum up the traces of a user in P1      | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
export the traces of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
follow the traces of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
read a thread of P1                    | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
list the threads of P1                 | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
list the users of P1                   | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
change the metadata of a trace of P1   | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
delete a trace of P1                   | 200  | 200   | 403d | 403d | 403d | 403d  | 403d  | 403d | 200   | 403d | 403d | 200
validate a credential for P1           | 200  | 200   | 200  | 200  | 200  | 200   | 200   | 200  | 200   | 200  | 200  | 200
read the settings of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
change the settings of P1              | 200  | 200   | 403d | 403d | 403d | 403d  | 403d  | 403d | 200   | 403d | 403d | 200
create an evaluator in P1              | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
change an evaluator of P1              | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
delete an evaluator of P1              | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
run an evaluator of P1                 | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
create a dataset in P1                 | 201  | 201   | 403d | 403d | 403d | 201   | 403d  | 201  | 201   | 403d | 403d | 201
add entries to a dataset of P1         | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
add traces to a dataset of P1          | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
delete a dataset of P1                 | 200  | 200   | 403d | 403d | 403d | 200   | 403d  | 200  | 200   | 403d | 403d | 200
read a dataset of P1                   | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
list the datasets of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
run an evaluator over traces of P1     | 201  | 201   | 403d | 403d | 403d | 201   | 403d  | 201  | 201   | 403d | 403d | 201
cancel a run of P1                     | 404  | 404   | 403d | 403d | 403d | 404   | 403d  | 404  | 404   | 403d | 403d | 404
read a run of P1                       | 404  | 404   | 403d | 403d | 403d | 404   | 404   | 404  | 404   | 403d | 403d | 404
list the runs of P1                    | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
list the evaluators of P1              | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
read an evaluator of P1                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 200  | 200   | 403d | 403d | 200
read an evaluator of P2                | 200  | 200   | 403d | 403d | 403d | 200   | 200   | 401u | 200   | 403d | 403d | 401u
read an evaluator, no project named    | 200  | 401n  | 401n | 401n | 401n | 401n  | 401n  | 200  | 401n  | 401n | 401n | 200
read an evaluator, unknown project     | 200  | 401u  | 401u | 401u | 401u | 401u  | 401u  | 401u | 401u  | 401u | 401u | 401u
read an evaluator, a project elsewhere | 200  | 401u  | 401u | 401u | 401u | 401u  | 401u  | 401u | 401u  | 401u | 401u | 401u
add an administrator                   | 401c | 201   | 403a | 403p | 403a | 403p  | 403p  | 403p | 201   | 403a | 403p | 403p
`;

const scopeCode = { s: 'role_binding_scope_violation' };
const projectCodes = { 404: 'project_not_found' };
const projectIn = (id: string) => ({ 'x-project-id': id });
const email = () => `${freshName('m').replace(' ', '')}@localhost`;

const readProject = (id: (fixture: Fixture) => string): Operation => ({
  method: getProject,
  ask: ({ fixture }) => ({ parameters: { id: id(fixture) } }),
  codes: projectCodes,
});

/** A project in place of P1, and the token of an equivalent caller. */
const standIn = makeFor(
  async ({ fixture, caller }) => {
    const id = await fixture.addProject();
    const isBound = caller === 'PP' || caller === 'SP';
    return { id, token: isBound ? (await fixture.addCaller(caller, id)).token : fixture.tokens[caller] };
  },
  ({ caller }) => caller,
);

const ofStandIn = (method: Operation['method'], body?: { readonly [name: string]: string }): Operation => ({
  method,
  ask: async (cell) => {
    const { id, token } = await standIn(cell);
    return { parameters: { id }, token, ...(body === undefined ? {} : { body }) };
  },
  codes: projectCodes,
});

const addMember = (role: string): Operation => ({
  method: createMember,
  ask: () => ({ body: { email: email(), name: 'Somebody', role } }),
  codes: scopeCode,
});

/** Only administrators may do this, and never to the last administrator. */
const onLastAdministrator = (
  method: Operation['method'],
  code: string,
  body?: { readonly [name: string]: string | boolean },
): Operation => ({
  method,
  ask: ({ fixture }) => ({ parameters: { user_id: fixture.members.adm }, ...(body === undefined ? {} : { body }) }),
  codes: { 409: code },
});

const somebody = makeFor(({ fixture }) => fixture.addMember('MEMBER'));

const onMember = (method: Operation['method'], body?: { readonly [name: string]: boolean }): Operation => ({
  method,
  ask: async (cell) => ({
    parameters: { user_id: await somebody(cell) },
    ...(body === undefined ? {} : { body }),
  }),
  codes: scopeCode,
});

const viewerAtP1 = makeFor(async ({ fixture }) => {
  const userId = await fixture.addMember('VIEWER');
  return { userId, role: 'VIEWER', scopeType: 'PROJECT', scopeId: fixture.projects.P1 };
});

const price = { model: 'in-house', match: 'exact', inputCostPerToken: 0, outputCostPerToken: 0 };
const priceToTakeBack = makeFor(async ({ fixture }) =>
  String((await fixture.act('POST', '/api/pricing/overrides', price)).id),
);

const bindingAtP1 = makeFor(async (cell) => {
  const body = await viewerAtP1({ ...cell, isRefused: false });
  return String((await cell.fixture.act('POST', '/api/role-bindings', body)).id);
});

const inP1 = (
  method: Operation['method'],
  ask: (fixture: Fixture) => object,
  codes: NonNullable<Operation['codes']> = {},
): Operation => ({
  method,
  codes,
  ask: ({ fixture }) => ({ headers: projectIn(fixture.projects.P1), ...ask(fixture) }),
});

const evaluatorInP1 = makeFor(({ fixture }) => fixture.addEvaluator());
const datasetInP1 = makeFor(({ fixture }) => fixture.addDataset());
const onDatasetInP1 = (
  method: Operation['method'],
  rest: { readonly body?: { readonly traceIds: string[] } } = {},
): Operation => ({
  method,
  ask: async (cell) => ({
    headers: projectIn(cell.fixture.projects.P1),
    parameters: { slug_or_id: await datasetInP1(cell) },
    ...rest,
  }),
});
const traceInP1 = makeFor(({ fixture }) => fixture.addTrace());

/** A project key reads its own project, whatever the header names. */
const readEvaluator = (named: (fixture: Fixture) => string | null, of: 'P1' | 'P2' = 'P1'): Operation => ({
  method: getEvaluator,
  ask: ({ fixture, caller }) => {
    const project = named(fixture);
    return {
      parameters: { id_or_slug: fixture.evaluators[caller === 'PROJ' ? 'P1' : of] },
      ...(project === null ? {} : { headers: projectIn(project) }),
    };
  },
});

export const ORGANIZATION_MATRIX: Matrix = {
  table: TABLE.replaceAll('PEOPLE', 'adm+mgr+mem+vie+dem').replaceAll('GRANTS', 'adm+mgr+mgr+mem+vie+dem'),
  alike: { PD: 'PV' },
  operations: {
    'list projects': { method: listProjects, ask: () => ({}) },
    'list teams': { method: listTeams, ask: () => ({}) },
    'list members': { method: listMembers, ask: () => ({}), idOf: ({ userId = '' }) => userId },
    'list role bindings': { method: listRoleBindings, ask: () => ({}), idOf: ({ userId = '' }) => userId },
    'read the organization': { method: getOrganization, ask: () => ({}) },
    'rename the organization': { method: updateOrganization, ask: () => ({ body: { name: freshName('renamed') } }) },
    'list the price overrides': { method: listOverrides, ask: () => ({}), idOf: ({ id = '' }) => id },
    'set a price': {
      method: createOverride,
      ask: () => ({ body: price, message: { ...price, match: OverrideMatch.EXACT } }),
    },
    'take back a price': {
      method: deleteOverride,
      ask: async (cell) => ({ parameters: { id: await priceToTakeBack(cell) } }),
    },
    'read P1': readProject((fixture) => fixture.projects.P1),
    'read P2': readProject((fixture) => fixture.projects.P2),
    'read a project elsewhere': readProject((fixture) => fixture.foreign.projectId),
    'change P1': {
      method: updateProject,
      ask: ({ fixture }) => ({ parameters: { id: fixture.projects.P1 }, body: { name: freshName('renamed') } }),
      codes: projectCodes,
    },
    'rotate the key of P1': ofStandIn(rotateProjectKey, {}),
    'archive P1': ofStandIn(archiveProject),
    'create a project in T1': {
      method: createProject,
      ask: ({ fixture }) => ({ body: { name: freshName('project'), teamId: fixture.teams.T1 } }),
    },
    'create a team': { method: createTeam, ask: () => ({ body: { name: freshName('team') } }) },
    'list the audit log': { method: AuditLogService.method.listAuditLog, ask: () => ({}) },
    'list the permissions': { method: PermissionService.method.listPermissions, ask: () => ({}) },
    'add an external member': addMember('EXTERNAL'),
    'add a viewer': addMember('VIEWER'),
    'add an administrator': addMember('ADMIN'),
    'disable a member': onMember(updateMember, { disabled: true }),
    'remove a member': onMember(removeMember),
    'grant VIEWER at P1': {
      method: createRoleBinding,
      ask: async (cell) => ({ body: await viewerAtP1(cell) }),
      codes: scopeCode,
    },
    'take back VIEWER at P1': {
      method: deleteRoleBinding,
      ask: async (cell) => ({ parameters: { id: await bindingAtP1(cell) } }),
      codes: scopeCode,
    },
    'demote the last administrator': onLastAdministrator(updateMember, 'cannot_demote_last_admin', { role: 'MEMBER' }),
    'disable the last administrator': onLastAdministrator(updateMember, 'cannot_disable_last_admin', {
      disabled: true,
    }),
    'remove the last administrator': onLastAdministrator(removeMember, 'cannot_remove_last_admin'),
    'list events': { method: listEvents, ask: () => ({ query: { from: '0', to: '253402300799999' } }) },
    'sum up what was spent': { method: querySpend, ask: () => ({ query: { from: '0', to: '253402300799999' } }) },
    'read an event': { method: getEvent, ask: ({ fixture }) => ({ parameters: { id: fixture.eventId } }) },
    'report a request of P1': {
      method: reportRequests,
      ask: ({ fixture }) => ({
        body: {
          records: [{ ...request, status: 'success', project_id: fixture.projects.P1, occurred_at: Date.now() }],
        },
        message: {
          records: [{ ...requestMessage, projectId: fixture.projects.P1, occurredAt: timestampFromMs(Date.now()) }],
        },
      }),
    },
    'report a governance event': {
      method: reportGovernanceEvents,
      ask: () => ({
        body: { events: [{ ...virtualKey, virtual_key_id: 'vk', display_prefix: '', occurred_at: Date.now() }] },
        message: {
          events: [{ ...virtualKeyMessage, occurredAt: timestampFromMs(Date.now()) }],
        },
      }),
    },
    'collect a trace in P1': inP1(collectTrace, () => {
      const body = llmTrace(Date.now());
      return { body, message: asMessage(body) };
    }),
    'read a trace of P1': inP1(getTrace, ({ traceId }) => ({ parameters: { trace_id: traceId } })),
    'match a price in P1': inP1(matchPrice, () => ({ query: { model: 'gpt-5' } })),
    'search the traces of P1': inP1(searchTraces, () => ({ body: {}, message: {} })),
    'list the facets of traces of P1': inP1(listTraceFacets, () => ({ body: {}, message: {} })),
    'suggest values of traces of P1': inP1(suggestTraceValues, () => ({
      body: { name: 'spans.model' },
      message: { name: 'spans.model' },
    })),
    'sum up the traces of P1': inP1(queryAnalytics, () => ({ query: { from: '0', to: '253402300799999' } })),
    'sum up the evaluations of P1': inP1(queryEvaluationAnalytics, () => ({
      query: { from: '0', to: '253402300799999' },
    })),
    'sum up the traces of a user in P1': inP1(getUserStats, () => ({ parameters: { user_id: 'user-1' } })),
    'export the traces of P1': inP1(exportTraces, () => ({ body: {}, message: {} })),
    'follow the traces of P1': inP1(tailTraces, () => ({})),
    'read a thread of P1': inP1(getThread, () => ({ parameters: { thread_id: 'thread-1' } })),
    'list the threads of P1': inP1(ThreadService.method.listThreads, () => ({})),
    'list the users of P1': inP1(ThreadService.method.listUsers, () => ({})),
    'change the metadata of a trace of P1': inP1(updateTraceMetadata, ({ traceId }) => ({
      parameters: { trace_id: traceId },
      body: { metadata: { seen: true } },
    })),
    'delete a trace of P1': {
      method: deleteTrace,
      ask: async (cell) => ({
        headers: projectIn(cell.fixture.projects.P1),
        parameters: { trace_id: await traceInP1(cell) },
      }),
    },
    'validate a credential for P1': inP1(validateCredential, () => ({})),
    'read the settings of P1': inP1(getProjectSettings, () => ({})),
    'change the settings of P1': inP1(updateProjectSettings, () => ({ body: { emitRequestEvents: true } })),
    'create an evaluator in P1': inP1(createEvaluator, () => ({
      body: { name: freshName('Judge'), config: { evaluatorType: 'langevals/exact_match', settings: {} } },
    })),
    'change an evaluator of P1': inP1(updateEvaluator, ({ evaluators }) => ({
      parameters: { id_or_slug: evaluators.P1 },
      body: { name: freshName('Judge') },
    })),
    'delete an evaluator of P1': {
      method: deleteEvaluator,
      ask: async (cell) => ({
        headers: projectIn(cell.fixture.projects.P1),
        parameters: { id_or_slug: await evaluatorInP1(cell) },
      }),
    },
    'run an evaluator of P1': inP1(EvaluationService.method.evaluate, ({ evaluators }) => ({
      parameters: {
        evaluator: evaluators.P1,
        saved_evaluator: evaluators.P1,
        namespace: 'langevals',
        entry: 'exact_match',
      },
      body: { data: { output: 'a' } },
      message: { evaluator: evaluators.P1, dataJson: '{"output":"a"}' },
    })),
    'create a dataset in P1': inP1(createDataset, () => ({ body: { name: freshName('Cases') } })),
    'add entries to a dataset of P1': {
      method: addDatasetEntries,
      ask: async (cell) => {
        const slugOrId = await datasetInP1(cell);
        return {
          headers: projectIn(cell.fixture.projects.P1),
          parameters: { slug_or_id: slugOrId },
          body: { entries: [{ input: 'hi' }] },
          message: { slugOrId, entriesJson: '[{"input":"hi"}]' },
        };
      },
    },
    'add traces to a dataset of P1': onDatasetInP1(addTracesToDataset, { body: { traceIds: ['none'] } }),
    'delete a dataset of P1': onDatasetInP1(deleteDataset),
    'read a dataset of P1': onDatasetInP1(getDataset),
    'list the datasets of P1': inP1(listDatasets, () => ({})),
    'run an evaluator over traces of P1': inP1(EvaluationService.method.runEvaluatorOnTraces, ({ evaluators }) => ({
      parameters: { id_or_slug: evaluators.P1 },
      // The trace is missing, so each run ends at once.
      body: { traceIds: ['none'] },
    })),
    'cancel a run of P1': inP1(
      EvaluationService.method.cancelEvaluatorRun,
      () => ({ parameters: { run_id: 'none' } }),
      {
        404: 'evaluator_run_not_found',
      },
    ),
    'read a run of P1': inP1(EvaluationService.method.getEvaluatorRun, () => ({ parameters: { run_id: 'none' } }), {
      404: 'evaluator_run_not_found',
    }),
    'list the runs of P1': inP1(EvaluationService.method.listEvaluatorRuns, () => ({})),
    'list the evaluators of P1': inP1(listEvaluators, () => ({})),
    'read an evaluator of P1': readEvaluator(({ projects }) => projects.P1),
    'read an evaluator of P2': readEvaluator(({ projects }) => projects.P2, 'P2'),
    'read an evaluator, no project named': readEvaluator(() => null),
    'read an evaluator, unknown project': readEvaluator(() => UNKNOWN),
    'read an evaluator, a project elsewhere': readEvaluator(({ foreign }) => foreign.projectId),
  },
};
