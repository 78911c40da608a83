import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { updateTraceMetadata, deleteTrace } = TraceService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function send(body: object): Promise<void> {
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
}

async function sendNew(metadata: object = { user_id: 'user-1', labels: ['a'], plan: 'free' }): Promise<string> {
  const traceId = hex(32);
  await send({ ...llmTrace(Date.now(), traceId), metadata });
  return traceId;
}

async function read(traceId: string): Promise<Body> {
  return await callRest(app.address, { path: `/api/traces/${encodeURIComponent(traceId)}`, headers: key() });
}

function patchCase(
  traceId: string,
  metadata: unknown,
  each: Partial<SurfaceCase> & { status: number },
): SurfaceCase<typeof updateTraceMetadata> {
  return {
    name: JSON.stringify(metadata),
    headers: key(),
    rest: { verb: 'PATCH', path: `/api/traces/${encodeURIComponent(traceId)}/metadata`, body: { metadata } },
    rpc: { method: updateTraceMetadata, request: { traceId, metadataJson: JSON.stringify(metadata) } },
    ...each,
  } as SurfaceCase<typeof updateTraceMetadata>;
}

function deleteCase(traceId: string, each: Partial<SurfaceCase> & { status: number }): SurfaceCase {
  return {
    name: traceId,
    headers: key(),
    rest: { verb: 'DELETE', path: `/api/traces/${encodeURIComponent(traceId)}` },
    rpc: { method: deleteTrace, request: { traceId } },
    ...each,
  } as SurfaceCase;
}

describe('changing the metadata of a trace, over REST and gRPC', () => {
  it('T12: the last value shows, labels are replaced, null removes, the others and the spans stay', async () => {
    const traceId = await sendNew();
    const before = (await read(traceId)).body;
    const metadata = { plan: 'paid', labels: ['b', 'c'], user_id: null, deep: { n: [1, null] }, __proto__x: 1 };
    const expected = { labels: ['b', 'c'], plan: 'paid', deep: { n: [1, null] }, __proto__x: 1 };
    const check = (body: Body) => expect(body).toEqual({ traceId, metadata: expected });
    await expectEverywhere(app.address, patchCase(traceId, metadata, { status: 200, check }));
    const after = (await read(traceId)).body;
    expect(after.metadata).toEqual(expected);
    expect(after.timestamps.updated_at).toBeGreaterThanOrEqual(before.timestamps.updated_at);
    const rest = ({ metadata: _, timestamps: { updated_at: __, ...timestamps }, ...trace }: Body) => ({
      ...trace,
      timestamps,
    });
    expect(rest(after)).toEqual(rest(before));
  });

  it('an alias means its key, also in a removal', async () => {
    const traceId = await sendNew();
    const patch = async (metadata: object) => {
      const { rest } = patchCase(traceId, metadata, { status: 200 });
      return (await callRest(app.address, { ...rest, headers: key() })).body.metadata;
    };
    expect(await patch({ userId: 7 })).toMatchObject({ user_id: '7' });
    expect(await patch({ userId: null })).toEqual({ labels: ['a'], plan: 'free' });
    expect(await patch({ labels: [null] })).toEqual({ plan: 'free' });
  });

  it('integers that a double cannot hold keep their digits', async () => {
    const traceId = await sendNew();
    const body = '{"metadata":{"big":12345678901234567890}}';
    const path = `/api/traces/${traceId}/metadata`;
    const answer = await callRest(app.address, { verb: 'PATCH', path, headers: key(), body });
    expect(answer.text).toContain('"big":12345678901234567890');
    expect((await read(traceId)).text).toContain('"big":12345678901234567890');
  });

  it('T12: an unknown id is 404 and creates nothing, and so is the beginning of one', async () => {
    const traceId = await sendNew();
    const unknown = hex(32);
    const refused = { status: 404, code: 'trace_not_found' };
    await expectEverywhere(app.address, patchCase(unknown, { a: 1 }, refused));
    await expectEverywhere(app.address, patchCase('x'.repeat(201), { a: 1 }, refused));
    await expectEverywhere(app.address, patchCase(traceId.slice(0, 16), { a: 1 }, refused));
    expect((await read(unknown)).status).toBe(404);
    expect((await read(traceId)).body.metadata).not.toHaveProperty('a');
  });

  it('what is invalid is refused as a whole, before it matters whether there is such a trace', async () => {
    const nested = JSON.parse(`${'['.repeat(65)}${']'.repeat(65)}`);
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, 'metadata'],
      [[], 'metadata'],
      ['text', 'metadata'],
      [{ user_id: {} }, 'metadata.user_id'],
      [{ thread_id: '' }, 'metadata.thread_id'],
      [{ labels: [['nested']] }, 'metadata.labels[0]'],
      [{ labels: ['x'.repeat(257)] }, 'metadata.labels[0]'],
      [{ ok: 1, deep: nested }, 'metadata.deep'],
      [{ long: 'x'.repeat(32_768) }, 'metadata'],
    ];
    for (const [metadata, field] of cases) {
      const check = (body: Body) => expect(body.fields).toEqual([field]);
      await expectEverywhere(
        app.address,
        patchCase(hex(32), metadata, { status: 422, code: 'validation_error', check }),
      );
    }
    for (const body of [{}, { metadata: null }]) {
      const path = `/api/traces/${hex(32)}/metadata`;
      const answer = await callRest(app.address, { verb: 'PATCH', path, headers: key(), body });
      expect(answer.status, answer.text).toBe(422);
    }
    const bare = await callRpc(app.address, {
      method: updateTraceMetadata,
      headers: key(),
      request: { traceId: hex(32), metadataJson: '{' },
    });
    expect(bare).toMatchObject({ ok: false, code: 'validation_error' });
  });

  it('a change that would make the metadata too large is refused and changes nothing', async () => {
    const traceId = await sendNew({ filler: 'x'.repeat(250_000) });
    const metadata = { more: 'y'.repeat(20_000) };
    await expectEverywhere(app.address, patchCase(traceId, metadata, { status: 422, code: 'validation_error' }));
    expect((await read(traceId)).body.metadata).not.toHaveProperty('more');
    const instead = { filler: null, more: 'y'.repeat(20_000) };
    await expectEverywhere(app.address, patchCase(traceId, instead, { status: 200 }));
  });
});

describe('removing a trace, over REST and gRPC', () => {
  it('T13: it is not found afterwards, and spans sent under its id make a new one', async () => {
    for (const remove of ['rest', 'rpc'] as const) {
      const traceId = await sendNew();
      const { rest, rpc } = deleteCase(traceId, { status: 200 });
      const answer =
        remove === 'rest'
          ? (await callRest(app.address, { ...rest, headers: key() })).body
          : await callRpc(app.address, { ...rpc, headers: key() });
      expect(answer).toMatchObject(remove === 'rest' ? { success: true } : { ok: true, body: { success: true } });
      expect((await read(traceId)).status).toBe(404);
      await expectEverywhere(app.address, deleteCase(traceId, { status: 404, code: 'trace_not_found' }));
      await send({ ...llmTrace(Date.now(), traceId), metadata: { plan: 'new' } });
      expect((await read(traceId)).body).toMatchObject({ span_count: 1, metadata: { plan: 'new' } });
    }
  });

  it('one with many spans and evaluations disappears at once as well', async () => {
    const traceId = hex(32);
    const [span] = llmTrace(Date.now()).spans;
    const spans = Array.from({ length: 450 }, (_, index) => ({ ...span, span_id: `s${index}` }));
    const evaluations = Array.from({ length: 300 }, (_, index) => ({ name: `e${index}`, score: index }));
    await send({ trace_id: traceId, spans, evaluations });
    expect((await read(traceId)).body.span_count).toBe(450);
    const answer = await callRest(app.address, { ...deleteCase(traceId, { status: 200 }).rest, headers: key() });
    expect(answer.status).toBe(200);
    expect((await read(traceId)).status).toBe(404);
    await send({ trace_id: traceId, spans: spans.slice(0, 1) });
    expect((await read(traceId)).body).toMatchObject({ span_count: 1, evaluations: [] });
  });

  it('an unknown id and the beginning of a known one are 404', async () => {
    const traceId = await sendNew();
    const refused = { status: 404, code: 'trace_not_found' };
    await expectEverywhere(app.address, deleteCase(hex(32), refused));
    await expectEverywhere(app.address, deleteCase('x'.repeat(201), refused));
    await expectEverywhere(app.address, deleteCase(traceId.slice(0, 31), refused));
    expect((await read(traceId)).status).toBe(200);
  });
});

it('a call without a credential, with a wrong one, or without the permission is refused', async () => {
  const traceId = await sendNew();
  const viewer = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:view'])] });
  for (const build of [deleteCase, (id: string, each: { status: number }) => patchCase(id, { a: 1 }, each)]) {
    await expectEverywhere(app.address, build(traceId, { headers: {}, status: 401, code: 'missing_credentials' }));
    const wrong = { headers: bearer('nope'), status: 401, code: 'invalid_credentials' };
    await expectEverywhere(app.address, build(traceId, wrong));
    const refused = { headers: bearer(viewer), status: 403, code: 'api_key_permission_denied' };
    await expectEverywhere(app.address, build(traceId, refused));
  }
  const editor = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:update'])] });
  await expectEverywhere(app.address, patchCase(traceId, { a: 1 }, { headers: bearer(editor), status: 200 }));
  const refused = { headers: bearer(editor), status: 403, code: 'api_key_permission_denied' };
  await expectEverywhere(app.address, deleteCase(traceId, refused));
});
