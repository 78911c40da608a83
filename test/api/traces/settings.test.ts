import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const PATH = '/api/project/settings';
const { getProjectSettings, updateProjectSettings } = TraceService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_TRACE_RETENTION_DAYS: '365' } });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const is = (traceRetentionDays: number | null, emitRequestEvents: boolean) => (body: Body) =>
  expect(body).toEqual({ traceRetentionDays, emitRequestEvents });

function getCase(each: Partial<SurfaceCase> & { status: number }): SurfaceCase {
  return {
    name: 'get',
    headers: key(),
    rest: { path: PATH },
    rpc: { method: getProjectSettings, request: {} },
    ...each,
  };
}

type Update = { readonly traceRetentionDays?: number; readonly emitRequestEvents?: boolean };

/** `paths` is the mask over gRPC; over REST the members of the body are. */
function patchCase(
  body: { readonly [name: string]: unknown },
  { paths, ...each }: Partial<SurfaceCase> & { status: number; paths?: string[] },
): SurfaceCase {
  const values = Object.entries(body).filter(([, value]) => value !== null);
  const settings = Object.fromEntries(values) as Update;
  const request = { settings, ...(paths ? { updateMask: { paths } } : {}) };
  return {
    name: JSON.stringify(body),
    headers: key(),
    rest: { verb: 'PATCH', path: PATH, body },
    rpc: { method: updateProjectSettings, request },
    ...each,
  };
}

async function expectSettings(traceRetentionDays: number | null, emitRequestEvents: boolean): Promise<void> {
  await expectEverywhere(app.address, getCase({ status: 200, check: is(traceRetentionDays, emitRequestEvents) }));
}

describe('the settings of a project, over REST and gRPC', () => {
  it('a project that never chose has those of the installation', async () => {
    await expectSettings(365, true);
  });

  it('what is sent changes, and the next request sees it; the rest stays', async () => {
    await expectEverywhere(app.address, patchCase({ traceRetentionDays: 30 }, { status: 200, check: is(30, true) }));
    await expectSettings(30, true);
    await expectEverywhere(app.address, patchCase({ emitRequestEvents: false }, { status: 200, check: is(30, false) }));
    await expectSettings(30, false);
    const both = { traceRetentionDays: 3650, emitRequestEvents: true };
    await expectEverywhere(app.address, patchCase(both, { status: 200, check: is(3650, true) }));
    await expectEverywhere(app.address, patchCase({}, { status: 200, check: is(3650, true) }));
    await expectEverywhere(app.address, patchCase({ unknown: 1 }, { status: 200, check: is(3650, true) }));
    await expectSettings(3650, true);
  });

  it('what changed is in the audit log, and only that', async () => {
    const { id, apiKey } = (
      await callRest(app.address, {
        verb: 'POST',
        path: '/api/projects',
        headers: { 'x-auth-token': app.adminKey },
        body: { name: 'Audited' },
      })
    ).body;
    const headers = { 'x-auth-token': app.adminKey, 'x-project-id': id };
    const change = { traceRetentionDays: 30, emitRequestEvents: true };
    await expectEverywhere(app.address, patchCase(change, { status: 200, headers }));
    await expectEverywhere(app.address, patchCase({}, { status: 200, headers }));
    const own = { 'x-auth-token': apiKey };
    await expectEverywhere(app.address, patchCase({ emitRequestEvents: false }, { status: 200, headers: own }));
    const path = `/api/audit-log?targetId=${id}&action=project.update`;
    const { body } = await callRest(app.address, { path, headers: { 'x-auth-token': app.adminKey } });
    const entry = { action: 'project.update', targetType: 'project', targetId: id, outcome: 'success', status: 200 };
    expect(body.data).toMatchObject([
      { ...entry, actorKind: 'project_key', fields: ['emitRequestEvents'] },
      { ...entry, actorKind: 'personal_key', fields: ['traceRetentionDays'] },
    ]);
  });

  it('null keeps traces for ever, which is not the same as never having chosen', async () => {
    const forEver = { paths: ['trace_retention_days'], status: 200, check: is(null, true) };
    await expectEverywhere(app.address, patchCase({ traceRetentionDays: null }, forEver));
    await expectSettings(null, true);
  });

  it('with a mask what it names counts, which is all that is there', async () => {
    const update = (settings: object) =>
      callRpc(app.address, {
        method: updateProjectSettings,
        headers: key(),
        request: {
          settings: { emitRequestEvents: false, ...settings },
          updateMask: { paths: ['emit_request_events'] },
        },
      });
    expect(await update({ traceRetentionDays: 5 })).toMatchObject({ ok: false, code: 'validation_error' });
    const answer = await update({});
    expect(answer).toMatchObject({ ok: true, body: { traceRetentionDays: null, emitRequestEvents: false } });
    await expectEverywhere(app.address, patchCase({ emitRequestEvents: true }, { status: 200, check: is(null, true) }));
  });

  it.each([0, -1, 3651, 2 ** 31 - 1])('%i days are refused', async (traceRetentionDays) => {
    const check = (body: Body) => expect(body.fields).toEqual(['traceRetentionDays']);
    const refused = { status: 422, code: 'validation_error', check };
    await expectEverywhere(app.address, patchCase({ traceRetentionDays }, refused));
  });

  it('events are emitted or not: null is refused', async () => {
    const check = (body: Body) => {
      expect(body.fields).toEqual(['emitRequestEvents']);
      expect(body.reasons[0].meta).toMatchObject({ type: 'invalid_type', expected: 'boolean', received: 'null' });
    };
    const refused = { status: 422, code: 'validation_error', paths: ['emit_request_events'], check };
    await expectEverywhere(app.address, patchCase({ emitRequestEvents: null }, refused));
  });

  it.each([
    [{ traceRetentionDays: '30' }, ['traceRetentionDays']],
    [{ traceRetentionDays: 30.5 }, ['traceRetentionDays']],
    [{ traceRetentionDays: { $ne: 1 } }, ['traceRetentionDays']],
    [{ traceRetentionDays: [], emitRequestEvents: 'true' }, ['emitRequestEvents', 'traceRetentionDays']],
    [{ emitRequestEvents: 1 }, ['emitRequestEvents']],
  ])('%j is refused and changes nothing', async (body, fields) => {
    const answer = await callRest(app.address, { verb: 'PATCH', path: PATH, body, headers: key() });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body).toMatchObject({ code: 'validation_error', target: 'json' });
    expect(answer.body.fields.sort()).toEqual(fields);
    await expectSettings(null, true);
  });

  it('a body that is missing or no object is malformed', async () => {
    for (const body of ['', '[]', '7', '{']) {
      const answer = await callRest(app.address, { verb: 'PATCH', path: PATH, body, headers: key() });
      expect(answer.status, body).toBe(400);
      expect(answer.body.code).toBe('malformed_request');
    }
  });

  it('a call without a credential, with a wrong one, or without the permission is refused', async () => {
    for (const build of [getCase, (each: { status: number }) => patchCase({ traceRetentionDays: 1 }, each)]) {
      await expectEverywhere(app.address, build({ headers: {}, status: 401, code: 'missing_credentials' }));
      const wrong = { headers: { authorization: 'Bearer nope' }, status: 401, code: 'invalid_credentials' };
      await expectEverywhere(app.address, build(wrong));
      const narrow = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:view'])] });
      const headers = { authorization: `Bearer ${narrow}` };
      await expectEverywhere(app.address, build({ headers, status: 403, code: 'api_key_permission_denied' }));
    }
    await expectSettings(null, true);
  });

  it('a caller who may only view may not change', async () => {
    const viewer = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['project:view'])] });
    const headers = { authorization: `Bearer ${viewer}` };
    await expectEverywhere(app.address, getCase({ headers, status: 200, check: is(null, true) }));
    const refused = { headers, status: 403, code: 'api_key_permission_denied' };
    await expectEverywhere(app.address, patchCase({ emitRequestEvents: false }, refused));
    const manager = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['project:manage'])] });
    const allowed = { headers: { authorization: `Bearer ${manager}` }, status: 200, check: is(null, true) };
    await expectEverywhere(app.address, patchCase({ emitRequestEvents: true }, allowed));
  });

  it('while events are switched off, spans emit none, and switching them on again emits nothing for those', async () => {
    const count = async () => {
      const path = `/api/webhooks/v1/events?from=0&to=${Date.now() + 60_000}&limit=200`;
      const headers = { authorization: `Bearer ${app.adminKey}` };
      return (await callRest(app.address, { path, headers })).body.data.length;
    };
    const change = (emitRequestEvents: boolean) =>
      callRest(app.address, { verb: 'PATCH', path: PATH, headers: key(), body: { emitRequestEvents } });
    const send = (body: object) =>
      callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
    const body = llmTrace(Date.now(), hex(32));
    await change(false);
    await send(body);
    expect(await count()).toBe(0);
    await change(true);
    expect(await count()).toBe(0);
    await send(body);
    expect(await count()).toBe(1);
  });
});
