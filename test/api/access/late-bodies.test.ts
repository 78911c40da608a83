/** What a caller lost between its credential and its body does not live on in what the request does. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { llmTrace } from '../../support/fixtures.ts';
import { sendLate } from '../../support/late-body.ts';
import { callRest } from '../../support/surfaces.ts';
import { createFixture, type Fixture, freshName } from './access-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
  const { address, projectKey } = fixture.app;
  const headers = { 'x-auth-token': projectKey };
  await callRest(address, { verb: 'POST', path: '/api/collector', headers, body: llmTrace(Date.now(), 'shared') });
});
afterAll(async () => {
  await fixture.app.close();
});

type Late = { readonly verb: string; readonly path: string; readonly body: object };
type Case = readonly [name: string, request: Late, permission: string];

const CASES: readonly Case[] = [
  ['a link to a trace', { verb: 'POST', path: '/api/trace-shares', body: { traceId: 'shared' } }, 'traces:share'],
  [
    'a deletion of traces',
    { verb: 'POST', path: '/api/trace-deletions', body: { traceIds: ['nobody'] } },
    'project:manage',
  ],
  [
    'a setting of a project',
    { verb: 'PATCH', path: '/api/project/settings', body: { traceRetentionDays: 30 } },
    'project:manage',
  ],
];

const send = (token: string, request: Late, meanwhile: () => Promise<void>) => {
  const headers = { 'x-auth-token': token, 'x-project-id': fixture.projects.P1 };
  return sendLate(fixture.app.address, { ...request, headers }, meanwhile);
};

describe.each(CASES)('%s', (_, request, permission) => {
  it('is made by a caller that lost nothing', async () => {
    const { token } = await fixture.addCaller('SP');
    const { status } = await send(token, request, async () => {});
    expect([200, 201]).toContain(status);
  });

  it('is refused once the key is revoked', async () => {
    const { id, token } = await fixture.addCaller('SP');
    const { status, body } = await send(token, request, async () => {
      await fixture.act('DELETE', `/api/api-keys/${id}`);
    });
    expect([status, body.code]).toEqual([401, 'invalid_credentials']);
  });

  it('is refused once the key may no longer do it', async () => {
    const { id, token } = await fixture.addCaller('SP');
    const { status, body } = await send(token, request, async () => {
      const grant = { role: 'VIEWER', scopeType: 'PROJECT', scopeId: fixture.projects.P1 };
      await fixture.act('PATCH', `/api/api-keys/${id}`, { bindings: [grant] });
    });
    expect([status, body.code, body.permission]).toEqual([403, 'api_key_permission_denied', permission]);
  });

  it('is refused once the key of the project is another', async () => {
    const project = await fixture.act('POST', '/api/projects', { name: freshName('Rotated') });
    const rotated = async () => {
      await fixture.act('POST', `/api/projects/${project.id}/rotate-api-key`);
    };
    const body = 'traceId' in request.body ? await ownTrace(project.apiKey) : request.body;
    const { status, body: error } = await send(project.apiKey, { ...request, body }, rotated);
    expect([status, error.code]).toEqual([401, 'invalid_credentials']);
  });
});

async function ownTrace(projectKey: string): Promise<object> {
  const headers = { 'x-auth-token': projectKey };
  const body = llmTrace(Date.now(), 'shared');
  await callRest(fixture.app.address, { verb: 'POST', path: '/api/collector', headers, body });
  return { traceId: 'shared' };
}
