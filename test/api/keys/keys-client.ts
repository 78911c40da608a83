/** Calls the API key service on every surface: both spellings of its paths, and gRPC. */

import type { DescMethodUnary } from '@bufbuild/protobuf';
import { ApiKeyService } from '../../../gen/spandrel/v1/keys_pb.js';
import { decodeMessage } from '../../../src/transport/rest/decode.ts';
import type { TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';

export const SURFACES = ['/api/api-keys', '/api/v1/api-keys', 'gRPC'] as const;
export type Surface = (typeof SURFACES)[number];

const { method: methods } = ApiKeyService;
const OPERATIONS = {
  list: { method: methods.listApiKeys, verb: 'GET', tail: '', status: 200 },
  create: { method: methods.createApiKey, verb: 'POST', tail: '', status: 201 },
  get: { method: methods.getApiKey, verb: 'GET', tail: '/{id}', status: 200 },
  update: { method: methods.updateApiKey, verb: 'PATCH', tail: '/{id}', status: 200 },
  revoke: { method: methods.revokeApiKey, verb: 'DELETE', tail: '/{id}', status: 200 },
  rotate: { method: methods.rotateApiKey, verb: 'POST', tail: '/{id}/rotate', status: 200 },
} as const satisfies Record<string, { method: DescMethodUnary; verb: string; tail: string; status: number }>;

export type Operation = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly Operation[];

export type KeyRequest = {
  readonly id?: string;
  readonly query?: { readonly [name: string]: string };
  readonly body?: object;
  /** By default the first administrator's; empty: none. */
  readonly token?: string;
  readonly headers?: { readonly [name: string]: string };
};

/** `status` as in REST; `body` as REST writes it; for an error over gRPC, its details. */
export type Outcome = {
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
  readonly body: Body;
};

export async function ask(
  app: TestApp,
  [surface, operation]: readonly [Surface, Operation],
  request: KeyRequest = {},
): Promise<Outcome> {
  const { token = app.adminKey } = request;
  const headers = { ...request.headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
  return surface === 'gRPC'
    ? askGrpc(app, operation, { ...request, headers })
    : askRest(app, [surface, operation], { ...request, headers });
}

type Addressed = KeyRequest & { readonly headers: { readonly [name: string]: string } };

async function askRest(
  app: TestApp,
  [base, operation]: readonly [string, Operation],
  { id = '', query = {}, body, headers }: Addressed,
): Promise<Outcome> {
  const { verb, tail } = OPERATIONS[operation];
  const search = new URLSearchParams(query).toString();
  const path = `${base}${tail.replace('{id}', encodeURIComponent(id))}${search === '' ? '' : `?${search}`}`;
  const sent = body === undefined || verb === 'GET' ? {} : { body };
  const answer = await callRest(app.address, { verb, path, headers, ...sent });
  const failed = answer.status >= 300;
  return {
    status: answer.status,
    code: failed ? answer.body.code : null,
    message: failed ? answer.body.message : '',
    body: answer.body,
  };
}

async function askGrpc(
  app: TestApp,
  operation: Operation,
  { id = '', query = {}, body = {}, headers }: Addressed,
): Promise<Outcome> {
  const { verb, tail, status } = OPERATIONS[operation];
  const method: DescMethodUnary = OPERATIONS[operation].method;
  const { message: request } = decodeMessage(method.input, {
    parameters: tail === '' ? {} : { id },
    query: new URLSearchParams(query),
    body: verb === 'GET' ? null : JSON.parse(JSON.stringify(body)),
    nullIsAbsent: false,
    nullUnsets: true,
  });
  const answer = await callRpc(app.address, { method, request, headers });
  if (answer.ok) return { status, code: null, message: '', body: answer.body };
  const { code, error, meta } = answer;
  return { status: STATUSES.get(error.code) ?? 0, code, message: error.details, body: meta };
}

/** REST statuses by gRPC status, as far as this service uses them. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [3, 422],
  [5, 404],
  [7, 403],
  [9, 409],
  [10, 409],
  [16, 401],
]);

export type Minted = { readonly id: string; readonly token: string; readonly apiKey: Body };

/** Creates a key as the administrator; throws on failure. */
export async function mint(app: TestApp, body: object, token = app.adminKey): Promise<Minted> {
  const outcome = await ask(app, ['/api/api-keys', 'create'], { body: { name: 'minted', ...body }, token });
  if (outcome.status !== 201) throw new Error(JSON.stringify(outcome.body));
  return outcome.body;
}

/** Adds a member and a personal key with the member's role. */
export async function addMember(app: TestApp, role: string): Promise<{ userId: string; key: Minted }> {
  const answer = await callRest(app.address, {
    verb: 'POST',
    path: '/api/organization/members',
    headers: { authorization: `Bearer ${app.adminKey}` },
    body: { email: `${hex(16)}@example.com`, name: role, role },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  const { userId } = answer.body;
  return { userId, key: await mint(app, { assignedToUserId: userId }) };
}

/** The body of a key with only these permissions at the organization. */
export const restrictedTo = (app: TestApp, ...permissions: readonly string[]) => ({
  permissionMode: 'restricted',
  permissions,
  bindings: [{ role: 'CUSTOM', scopeType: 'ORGANIZATION', scopeId: app.organizationId }],
});
