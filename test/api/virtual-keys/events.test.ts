import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { addForeign, type Foreign } from '../access/foreign.ts';
import { BASE, type Receiver, startReceiver, startSending } from '../endpoints/endpoints-client.ts';
import { addVirtualKey, type GatewayRequest, invoke, type Operation, SURFACES } from './gateway-client.ts';

let app: TestApp;
let receiver: Receiver;
let foreign: Foreign;
beforeAll(async () => {
  app = await startSending();
  receiver = await startReceiver();
  foreign = await addForeign(app);
});
afterAll(async () => {
  await receiver.close();
  await app.close();
});

function received() {
  return receiver.received.flatMap(({ body }) => JSON.parse(body).batch);
}

it('every change of the state of a key emits its event, in order, once, to the endpoints of its organization', async () => {
  const endpointOf = (token: string) =>
    callRest(app.address, {
      verb: 'POST',
      path: BASE,
      headers: { authorization: `Bearer ${token}` },
      body: { url: receiver.url, enabled_events: ['gateway.virtual_key.*'], max_batch_size: 1, max_in_flight: 1 },
    });
  expect((await endpointOf(app.adminKey)).status).toBe(201);
  const { virtual_key: key, secret } = await addVirtualKey(app, { name: 'Größe' });
  const act = (operation: Operation, body: object) => invoke(app, ['REST', operation], { id: key.id, body });
  const rotated = await act('rotateVirtualKey', {});
  await act('updateVirtualKey', { description: 'a change of the rest' });
  await act('disableVirtualKey', { reason: 'leaked' });
  await act('disableVirtualKey', { reason: 'again' });
  await act('enableVirtualKey', {});
  await act('revokeVirtualKey', {});
  await until(() => received().length >= 5);
  const events = received();
  const common = {
    organization_id: app.organizationId,
    virtual_key_id: key.id,
    name: 'Größe',
    display_prefix: expect.stringMatching(/^vk-lw-.{4}$/),
    reason: null,
  };
  expect(events.map(({ type }) => type)).toEqual(
    ['created', 'rotated', 'disabled', 'enabled', 'revoked'].map((action) => `gateway.virtual_key.${action}`),
  );
  for (const { id, type, data } of events) {
    const reason = type.endsWith('.disabled') ? 'leaked' : null;
    expect(data).toEqual({ ...common, reason, event_id: id, event_type: type, occurred_at: expect.any(String) });
    expect(Object.keys(data)).toEqual([
      ...['event_id', 'event_type', 'organization_id', 'virtual_key_id', 'name', 'display_prefix', 'reason'],
      'occurred_at',
    ]);
    expect(id).toBe(`${key.id}:${type.split('.').at(-1)}:${Date.parse(data.occurred_at)}`);
  }
  expect(events[1].data.display_prefix).not.toBe(events[0].data.display_prefix);
  const text = JSON.stringify(receiver.received);
  for (const token of [secret, rotated.secret]) expect(text).not.toContain(token.slice('vk-lw-'.length));
});

it('a refused change emits nothing', async () => {
  const { virtual_key: key } = await addVirtualKey(app);
  const before = received().length;
  const body = { name: 'stale', expected_revision: 7 };
  await invoke(app, ['REST', 'updateVirtualKey'], { id: key.id, body }, '409 revision_mismatch');
  await invoke(app, ['REST', 'revokeVirtualKey'], { id: key.id, body: {} });
  await invoke(app, ['REST', 'revokeVirtualKey'], { id: key.id, body: {} }, '409 virtual_key_already_revoked');
  await until(() => received().filter(({ data }) => data.virtual_key_id === key.id).length >= 2);
  const types = received()
    .slice(before)
    .filter(({ data }) => data.virtual_key_id === key.id && !data.event_type.endsWith('.created'))
    .map(({ type }) => type);
  expect(types).toEqual(['gateway.virtual_key.revoked']);
});

it('a virtual key of one organization does not exist in another', async () => {
  const { virtual_key: key } = await addVirtualKey(app, { external_id: 'ours' });
  for (const surface of SURFACES) {
    const ask = (operation: Operation, request: GatewayRequest, wanted: string | null = null) =>
      invoke(app, [surface, operation], { token: foreign.token, ...request }, wanted);
    const { data } = await ask('listVirtualKeys', {});
    expect(
      data.some(({ organization_id }: { organization_id: string }) => organization_id === app.organizationId),
    ).toBe(false);
    expect((await ask('listVirtualKeys', { query: { external_id: 'ours' } })).data).toEqual([]);
    await ask('getVirtualKey', { id: key.id }, '404 virtual_key_not_found');
    const query = { from: '0', to: '1' };
    await ask('getVirtualKeySpend', { id: key.id, query }, '404 virtual_key_not_found');
    for (const operation of [
      'updateVirtualKey',
      'rotateVirtualKey',
      'disableVirtualKey',
      'enableVirtualKey',
      'revokeVirtualKey',
    ] as const) {
      await ask(operation, { id: key.id, body: {} }, '404 virtual_key_not_found');
    }
    const body = { name: 'stray', trace_project_id: app.projectId };
    await ask('createVirtualKey', { body }, '403 api_key_scope_violation');
    const twin = { name: 'twin', trace_project_id: foreign.projectId, external_id: `theirs over ${surface}` };
    await ask('createVirtualKey', { body: twin });
  }
});

it('a gateway reports no events of keys of this server', async () => {
  const { virtual_key: key } = await addVirtualKey(app);
  const event = (virtual_key_id: string) => ({
    type: 'gateway.virtual_key.revoked',
    occurred_at: Date.now(),
    virtual_key_id,
    name: 'n',
    display_prefix: 'p',
  });
  const report = async (token: string) =>
    (
      await callRest(app.address, {
        verb: 'POST',
        path: '/api/gateway/v1/governance-events',
        headers: { authorization: `Bearer ${token}` },
        body: { events: [event('vk_foreign'), event(key.id)] },
      })
    ).body;
  const refused = await report(app.adminKey);
  expect(refused).toMatchObject({ accepted: 1, rejected: [{ index: 1, code: 'invalid_record' }] });
  expect(refused.rejected[0].message).toMatch(/^virtual_key_id: /);
  expect(await report(foreign.token)).toEqual({ accepted: 2, rejected: [] });
});
