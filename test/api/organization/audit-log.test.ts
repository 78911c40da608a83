import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditLogService } from '../../../gen/spandrel/v1/organization_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc } from '../../support/surfaces.ts';
import { act, anyId, askAll, bearer, expectOnlyApiKeys, INSTANT } from './organization-client.ts';

const { listAuditLog } = AuditLogService.method;
const PATH = '/api/audit-log';

let nowMs = Date.now();
let app: TestApp;
let keyId: string;
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
  keyId = app.adminKey.slice('sk-lw-'.length).split('_')[0] ?? '';
  for (const name of ['One', 'Two', 'Three']) {
    nowMs += 1_000;
    await act(app, 'PATCH', '/api/organization', { name });
  }
});
afterAll(async () => {
  await app.close();
});

const list = (query = '', request = {}) => ({ rest: { path: PATH + query }, method: listAuditLog, request });

describe('the audit log, over REST and gRPC', () => {
  it('answers every field, newest first', async () => {
    await askAll(app, list('?action=organization.update&limit=1', { action: 'organization.update', pageSize: 1 }), {
      status: 200,
      check: (body) =>
        expect(body.data).toEqual([
          {
            id: anyId('audit'),
            createdAt: new Date(nowMs).toISOString(),
            actorKind: 'personal_key',
            actorUserId: app.userId,
            actorKeyId: keyId,
            action: 'organization.update',
            targetType: 'organization',
            targetId: app.organizationId,
            outcome: 'success',
            status: 200,
            code: null,
            fields: ['name'],
            ip: expect.any(String),
            userAgent: expect.any(String),
            requestId: expect.stringMatching(/^req_/),
            traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
            count: 1,
          },
        ]),
    });
  });

  it('begins with the bootstrap, which has no actor', async () => {
    await askAll(app, list('?action=bootstrap', { action: 'bootstrap' }), {
      status: 200,
      check: (body) =>
        expect(body).toMatchObject({
          data: [{ actorKind: 'bootstrap', actorUserId: null, actorKeyId: null, createdAt: INSTANT }],
          next_cursor: null,
        }),
    });
  });

  it('is read by filters and in pages', async () => {
    const action = 'organization.update';
    const window = { createdFrom: timestampFromMs(nowMs - 1_000), createdTo: timestampFromMs(nowMs), action };
    const both = list(`?from=${nowMs - 1_000}&to=${nowMs}&action=${action}`, window);
    await askAll(app, both, { status: 200, check: (body) => expect(body.data).toHaveLength(2) });
    const none = list('?actorKeyId=nope&outcome=success', { actorKeyId: 'nope', outcome: 'success' });
    await askAll(app, none, { status: 200, check: (body) => expect(body).toEqual({ data: [], next_cursor: null }) });
    const first = await act(app, 'GET', `${PATH}?action=${action}&limit=2`);
    const rest = await act(app, 'GET', `${PATH}?action=${action}&limit=2&cursor=${first.next_cursor}`);
    expect([...first.data, ...rest.data]).toHaveLength(3);
    expect(rest.next_cursor).toBeNull();
    const cursor = first.next_cursor;
    await askAll(app, list(`?cursor=${cursor}`, { pageToken: cursor }), { status: 422, code: 'invalid_cursor' });
  });

  it('hides what is past its term at once, in every range and behind every cursor', async () => {
    const server = await startApp({ clock: () => nowMs, environment: { SPANDREL_AUDIT_RETENTION_DAYS: '30' } });
    const renamedAtMs = nowMs;
    await act(server, 'PATCH', '/api/organization', { name: 'One' });
    const actionsAt = async (atMs: number, query: string) => {
      nowMs = atMs;
      const { data } = await act(server, 'GET', PATH + query);
      return data.map((entry: Body) => entry.action);
    };
    const termMs = 30 * 86_400_000;
    for (const query of ['', '?from=0', `?to=${renamedAtMs}`]) {
      const all = ['organization.update', 'bootstrap'];
      expect(await actionsAt(renamedAtMs + termMs, query)).toEqual(expect.arrayContaining(all));
      expect(await actionsAt(renamedAtMs + termMs + 1, query)).toEqual([]);
    }
    nowMs = renamedAtMs;
    const { next_cursor: cursor } = await act(server, 'GET', `${PATH}?limit=1`);
    expect(await actionsAt(renamedAtMs, `?cursor=${cursor}`)).toHaveLength(1);
    expect(await actionsAt(renamedAtMs + termMs + 1, `?cursor=${cursor}`)).toEqual([]);
    nowMs = renamedAtMs;
    await server.close();
  });

  it('takes the farthest instants a message can hold', async () => {
    const action = 'organization.update';
    const request = { createdFrom: { seconds: -62_135_596_800n }, createdTo: { seconds: 253_402_300_799n }, action };
    const headers = bearer(app.adminKey);
    const answer = await callRpc(app.address, { method: listAuditLog, headers, request });
    expect(answer).toMatchObject({ ok: true, body: { data: [{ action }, { action }, { action }] } });
  });

  it('refuses a range upside down, texts for instants, and who may not', async () => {
    const upsideDown = list('?from=2&to=1', { createdFrom: { seconds: 2n }, createdTo: { seconds: 1n } });
    const check = (body: Body) => expect(body).toMatchObject({ target: 'query', fields: ['(root)'] });
    await askAll(app, upsideDown, { status: 422, code: 'validation_error', check });
    const answer = await callRest(app.address, { path: `${PATH}?from=-1&limit=x`, headers: bearer(app.adminKey) });
    expect(answer).toMatchObject({ status: 422, body: { fields: ['from', 'limit'] } });
    const at = [custom('ORGANIZATION', app.organizationId, ['organization:manage'])];
    const headers = bearer(await addKey(app, { bindings: at }));
    await askAll(app, list(), { headers, status: 403, code: 'insufficient_permissions' });
    await expectOnlyApiKeys(app, list());
  });
});
