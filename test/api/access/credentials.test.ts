/** The precedence of several credentials, over every protocol. */

import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { OrganizationService } from '../../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { readInfo } from '../../support/error-info.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';

type Headers = Readonly<Record<string, string>>;
type Wire = 'REST' | 'gRPC' | 'Connect';
const WIRES: readonly Wire[] = ['REST', 'gRPC', 'Connect'];

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwcm94eSJ9.c2lnbmF0dXJl';
const OTHER_VENDOR = 'sk-proj-0123456789abcdefghijklmnopqrstuvwxyz';

type Prepared = {
  readonly app: TestApp;
  readonly other: { readonly id: string; readonly apiKey: string };
  readonly evaluatorId: string;
  readonly revoked: string;
};

let prepared: Prepared;
beforeAll(async () => {
  const app = await startApp();
  const act = async (verb: string, path: string, body?: object): Promise<Body> => {
    const headers = { 'x-auth-token': app.adminKey, 'x-project-id': app.projectId };
    const sent = body === undefined ? {} : { body };
    return (await callRest(app.address, { verb, path, headers, ...sent })).body;
  };
  const other = await act('POST', '/api/projects', { name: 'other' });
  const config = { evaluatorType: 'langevals/exact_match', settings: {} };
  const evaluator = await act('POST', '/api/evaluators', { name: 'mine', config });
  const { id, token } = await act('POST', '/api/api-keys', { name: 'ended', keyType: 'service' });
  await act('DELETE', `/api/api-keys/${id}`);
  prepared = { app, other, evaluatorId: evaluator.id, revoked: token };
});
afterAll(async () => {
  await prepared.app.close();
});

const basic = (user: string, token: string) => `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
const bearer = (token: string) => `Bearer ${token}`;

type Question = {
  readonly path: string;
  readonly method: typeof EvaluatorService.method.getEvaluator | typeof OrganizationService.method.getOrganization;
  readonly request: Readonly<Record<string, string>>;
};

/** An evaluator of the first project: found in it, evaluator_not_found in the other one. */
const evaluator = (): Question => ({
  path: `/api/evaluators/${prepared.evaluatorId}`,
  method: EvaluatorService.method.getEvaluator,
  request: { idOrSlug: prepared.evaluatorId },
});
const organization = (): Question => ({
  path: '/api/organization',
  method: OrganizationService.method.getOrganization,
  request: {},
});

/** Returns the error code; null for a success. */
async function send(wire: Wire, { path, method, request }: Question, headers: Headers): Promise<string | null> {
  const { address } = prepared.app;
  if (wire === 'REST') {
    const { status, body } = await callRest(address, { path, headers });
    return status === 200 ? null : body.code;
  }
  if (wire === 'gRPC') {
    const answer = await callRpc(address, { method, request, headers });
    return answer.ok ? null : answer.code;
  }
  const response = await fetch(`${address}/${method.parent.typeName}/${method.name}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'connect-protocol-version': '1' },
    body: JSON.stringify(request),
  });
  const body = (await response.json()) as Body;
  if (response.ok) return null;
  const detail = body.details?.find(({ type }: { readonly type: string }) => type === 'google.rpc.ErrorInfo');
  return readInfo(fromBinary(ErrorInfoSchema, Buffer.from(detail?.value ?? '', 'base64'))).code;
}

type Case = readonly [what: string, headers: Headers, code: string | null];

function projectCases({ app: { adminKey, projectKey, projectId }, other, revoked }: Prepared): readonly Case[] {
  const named = { 'x-project-id': projectId };
  return [
    ['a JWT of a proxy', { 'x-auth-token': projectKey, authorization: bearer(JWT) }, null],
    ['a Basic of a proxy', { 'x-auth-token': projectKey, authorization: basic('proxy', 'pass') }, null],
    ['a revoked key', { 'x-auth-token': projectKey, authorization: bearer(revoked) }, null],
    ['the key of another project', { 'x-auth-token': projectKey, authorization: bearer(other.apiKey) }, null],
    [
      'the key of this project, behind that of another',
      { 'x-auth-token': other.apiKey, authorization: bearer(projectKey) },
      'evaluator_not_found',
    ],
    ['a good key behind a foreign one', { 'x-auth-token': OTHER_VENDOR, authorization: bearer(projectKey) }, null],
    ['a good key behind a blank one', { 'x-auth-token': ' ', authorization: bearer(projectKey) }, null],
    ['the same key again', { 'x-auth-token': projectKey, authorization: bearer(projectKey) }, null],
    [
      'the user of a Basic that is not the credential',
      { 'x-auth-token': adminKey, authorization: basic(other.id, 'pass'), ...named },
      null,
    ],
    [
      'the user of a Basic with the same key',
      { 'x-auth-token': adminKey, authorization: basic(projectId, adminKey), 'x-project-id': other.id },
      null,
    ],
    [
      'the user of the Basic that is the credential',
      { 'x-auth-token': JWT, authorization: basic(projectId, adminKey), 'x-project-id': other.id },
      null,
    ],
    [
      'X-Project-Id beside a Bearer behind a foreign token',
      { 'x-auth-token': JWT, authorization: bearer(adminKey), ...named },
      null,
    ],
    [
      'an API key without a project, before a project key',
      { 'x-auth-token': adminKey, authorization: bearer(projectKey) },
      'project_scope_required',
    ],
    [
      'an API key with an unknown project, before a project key',
      { 'x-auth-token': adminKey, authorization: bearer(projectKey), 'x-project-id': 'project_none' },
      'unknown_project',
    ],
    ['a project key before an API key', { 'x-auth-token': projectKey, authorization: bearer(adminKey) }, null],
    ['nothing that is valid', { 'x-auth-token': JWT, authorization: bearer(revoked) }, 'invalid_credentials'],
    ['a foreign token before a broken Basic', { 'x-auth-token': JWT, authorization: 'Basic ?' }, 'invalid_credentials'],
    ['a broken Basic alone', { authorization: 'Basic ?' }, 'missing_credentials'],
  ];
}

function organizationCases({ app: { adminKey, projectKey }, revoked }: Prepared): readonly Case[] {
  return [
    ['a project key before an API key', { 'x-auth-token': projectKey, authorization: bearer(adminKey) }, null],
    ['an API key before a project key', { 'x-auth-token': adminKey, authorization: bearer(projectKey) }, null],
    ['a JWT behind an API key', { 'x-auth-token': adminKey, authorization: bearer(JWT) }, null],
    ['a JWT before an API key', { 'x-auth-token': JWT, authorization: bearer(adminKey) }, null],
    ['a revoked key before an API key', { 'x-auth-token': revoked, authorization: basic('x', adminKey) }, null],
    [
      'a project key before a JWT',
      { 'x-auth-token': projectKey, authorization: bearer(JWT) },
      'credential_class_mismatch',
    ],
    ['a project key behind a JWT', { 'x-auth-token': JWT, authorization: bearer(projectKey) }, 'invalid_credentials'],
  ];
}

describe.each(WIRES)('over %s', (wire) => {
  it('a project route takes the first position that holds a valid token, and its own project', async () => {
    for (const [what, headers, code] of projectCases(prepared)) {
      expect({ what, code: await send(wire, evaluator(), headers) }).toEqual({ what, code });
    }
  });

  it('an organization route accepts the API key in any header', async () => {
    for (const [what, headers, code] of organizationCases(prepared)) {
      expect({ what, code: await send(wire, organization(), headers) }).toEqual({ what, code });
    }
  });
});

it('a trace is stored in the project of X-Auth-Token, regardless of Authorization', async () => {
  const { app, other } = prepared;
  const traceId = hex(32);
  const headers = { 'x-auth-token': app.projectKey, authorization: bearer(other.apiKey) };
  const body = llmTrace(Date.now(), traceId);
  expect((await callRest(app.address, { verb: 'POST', path: '/api/collector', headers, body })).status).toBe(200);
  const read = (token: string) =>
    callRest(app.address, { path: `/api/traces/${traceId}`, headers: { 'x-auth-token': token } });
  expect((await read(app.projectKey)).status).toBe(200);
  expect((await read(other.apiKey)).status).toBe(404);
});

it('the Basic credentials of a browser are guarded where they count, and only there', async () => {
  const { app } = prepared;
  const form = { origin: 'https://elsewhere.example', 'content-type': 'text/plain' };
  const send = (headers: Headers) =>
    callRest(app.address, { verb: 'POST', path: '/api/teams', body: '', headers: { ...form, ...headers } });
  const used = await send({ authorization: basic('x', app.adminKey) });
  expect(used).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
  const beside = await send({ 'x-auth-token': app.adminKey, authorization: basic('somebody', 'pass') });
  expect(beside.body.code).not.toBe('origin_not_allowed');
});
