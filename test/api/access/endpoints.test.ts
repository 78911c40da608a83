import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { EndpointRecord } from '../../../src/domain/endpoints/endpoint.ts';
import { newEndpointId } from '../../../src/domain/endpoints/endpoint-creation.ts';
import { createEndpointSecrets } from '../../../src/domain/endpoints/endpoint-secrets.ts';
import type { TestApp } from '../../support/app.ts';
import { callRest } from '../../support/surfaces.ts';
import { atOrganization, createFixture, type Fixture, NOBODY_URL } from './access-fixture.ts';
import { ENDPOINT_MATRIX } from './endpoints-matrix.ts';
import type { Foreign } from './foreign.ts';
import { testMatrix } from './matrix.ts';
import { ask, type Question, SURFACES } from './question.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(ENDPOINT_MATRIX, () => fixture);

const { method: methods } = EndpointService;
const BASE = '/api/webhooks/v1/endpoints';
const ENDPOINT = { url: NOBODY_URL, enabled_events: ['gateway.virtual_key.*'] };

describe('the permissions of endpoints', () => {
  const keyWith = async (...permissions: string[]) =>
    (
      await fixture.addKey({
        owner: null,
        body: { bindings: [atOrganization('CUSTOM', fixture.scopeIds)], permissionMode: 'restricted', permissions },
      })
    ).token;

  it.each(SURFACES)('to look is not to manage, and to manage is also to look, over %s', async (surface) => {
    const answered = async (token: string, question: Question, status: number) => {
      const wanted = { status, code: status === 403 ? 'insufficient_permissions' : null };
      return await ask(surface, question, { address: fixture.app.address, token, wanted });
    };
    const viewer = await keyWith('webhookEndpoints:view');
    const manager = await keyWith('webhookEndpoints:manage');
    const list = { method: methods.listEndpoints };
    const make = { method: methods.createEndpoint, body: ENDPOINT };
    expect(await answered(viewer, list, 200)).toMatchObject({ status: 200 });
    expect(await answered(viewer, make, 403)).toMatchObject({ status: 403, code: 'insufficient_permissions' });
    expect(await answered(manager, make, 201)).toMatchObject({ status: 201 });
    expect(await answered(manager, list, 200)).toMatchObject({ status: 200 });
  });

  it('are named in the refusal of a caller who lacks them', async () => {
    const headers = { authorization: `Bearer ${fixture.tokens.PQ}` };
    for (const [verb, permission] of [
      ['GET', 'webhookEndpoints:view'],
      ['POST', 'webhookEndpoints:manage'],
    ] as const) {
      const { body, status } = await callRest(fixture.app.address, { verb, path: BASE, headers });
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ meta: { required_permission: permission } });
      expect(body.error.message).toContain(permission);
    }
  });
});

/** Every rpc on one endpoint, with its other parameters. */
const ABOUT_ONE: readonly (readonly [name: string, ask: (id: string) => Question])[] = (
  [
    ['getEndpoint', {}],
    ['updateEndpoint', { body: { max_in_flight: 1 } }],
    ['archiveEndpoint', {}],
    ['rollEndpointSecret', {}],
    ['testEndpoint', {}],
    ['listDeliveries', {}],
    ['getDelivery', { parameters: { dispatch_id: 'test:1' } }],
    ['redeliverDelivery', { parameters: { dispatch_id: 'test:1' } }],
    ['listDeadLetters', {}],
    ['replayEvents', { body: { from: 0, to: 1 } }],
    ['getReplay', { parameters: { replay_id: 'replay_1' } }],
    ['getEndpointHealth', {}],
  ] as const
).map(([name, request]) => [
  name,
  (id) => ({
    ...request,
    method: methods[name],
    parameters: { id, ...('parameters' in request ? request.parameters : {}) },
  }),
]);

describe('an endpoint that is not there', () => {
  let ids: readonly string[];
  beforeAll(async () => {
    const archived = (await fixture.act('POST', BASE, ENDPOINT)).data.id;
    await fixture.act('DELETE', `${BASE}/${archived}`);
    const unknown = newEndpointId(Date.now(), randomBytes);
    ids = [unknown, archived, await addEndpoint(fixture.app, fixture.foreign), 'x', 'x'.repeat(201)];
  });

  it.each(ABOUT_ONE)('is the same to %s, whyever it is not', async (_, question) => {
    for (const surface of SURFACES) {
      const bodies = new Set<string>();
      for (const id of ids) {
        const outcome = await ask(surface, question(id), {
          address: fixture.app.address,
          token: fixture.tokens.PA,
          wanted: { status: 404, code: 'webhook_endpoint_not_found' },
        });
        expect(outcome).toMatchObject({ status: 404, code: 'webhook_endpoint_not_found' });
        bodies.add(JSON.stringify(outcome.body).replace(/[0-9a-f]{32}|[0-9a-f]{16}/g, 'id'));
      }
      expect([...bodies]).toHaveLength(1);
    }
  });

  it('is left as it is, and seen by its own organization', async () => {
    const [, , foreignId = ''] = ids;
    const { app, foreign } = fixture;
    const path = `${BASE}/${foreignId}`;
    const own = await callRest(app.address, { path, headers: { authorization: `Bearer ${foreign.token}` } });
    expect(own.body.data).toMatchObject({ id: foreignId, max_in_flight: 4, status: 'active' });
    const listed = await fixture.act('GET', BASE);
    expect(listed.data.map(({ id }: { id: string }) => id)).not.toContain(foreignId);
  });
});

async function addEndpoint({ store, rootKeys }: TestApp, { organizationId }: Foreign): Promise<string> {
  const id = newEndpointId(Date.now(), randomBytes);
  const secrets = createEndpointSecrets({ encryptionKeys: rootKeys.encryptionKeys, random: randomBytes });
  const record: EndpointRecord = {
    organizationId,
    id,
    destinationKind: 'http',
    url: NOBODY_URL,
    sqs: null,
    enabledEvents: ['gateway.virtual_key.*'],
    status: 'active',
    disabledReason: null,
    disabledAtMs: null,
    maxBatchSize: 100,
    maxBatchDelayMs: 250,
    maxInFlight: 4,
    description: null,
    secret: secrets.seal(id, 'secret', 'whsec_x'),
    previousSecret: null,
    previousSecretUntilMs: null,
    destinationVersion: 1,
    run: 1,
    createdAtMs: Date.now(),
    updatedAtMs: Date.now(),
    archivedAtMs: null,
  };
  const stored = await store.management.commit({
    organizationId,
    expectedVersion: await store.management.version(organizationId),
    endpoints: [{ record, expectedVersion: 0, clearsStreak: false }],
    audit: [],
  });
  if (stored !== 'stored') throw new Error(`the endpoint is ${stored}`);
  return id;
}
