import { describe, expect, it } from 'vitest';
import type { EndpointDraft } from '../../../src/domain/endpoints/endpoint-draft.ts';
import type { SecretEndpoint } from '../../../src/domain/endpoints/endpoint-view.ts';
import { faultOf, NOW_MS } from '../keys/keys-fixture.ts';
import { createEndpointsFixture, HTTP, QUEUE_URL, ROLE, SQS } from './endpoints-fixture.ts';

const withQueue = (sqs: EndpointDraft['sqs']): EndpointDraft => ({ ...SQS, sqs: { queueUrl: QUEUE_URL, ...sqs } });

describe('a new endpoint', () => {
  it('is active and has the defaults', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint, secret } = await fixture.create();
    expect(endpoint).toMatchObject({
      id: expect.stringMatching(/^webhookendpoint_[0-9A-Za-z]{29}$/),
      destinationKind: 'http',
      url: 'https://hooks.example.com/in',
      sqs: null,
      enabledEvents: ['*'],
      status: 'active',
      disabledReason: null,
      failingSinceMs: null,
      maxBatchSize: 100,
      maxBatchDelayMs: 250,
      maxInFlight: 4,
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(JSON.stringify(endpoint)).not.toContain(secret);
    expect(fixture.signing(endpoint.id)).toEqual([secret]);
    expect(fixture.stored(endpoint.id).secret.toString('latin1')).not.toContain(secret);
    expect(fixture.audit()).toMatchObject([
      { action: 'webhookEndpoint.create', targetType: 'webhookEndpoint', targetId: endpoint.id, status: 201 },
    ]);
  });

  it('keeps what was sent as it was sent', async () => {
    const fixture = await createEndpointsFixture();
    const enabledEvents = ['gateway.request.*', 'gateway.budget.breached', 'gateway.request.*'];
    const url = 'https://Hooks.Example.com:8443/in?a=b#c';
    const { endpoint } = await fixture.create({ url, enabledEvents, maxBatchDelayMs: 0, maxInFlight: 8 });
    expect(endpoint).toMatchObject({ url, enabledEvents, maxBatchDelayMs: 0, maxInFlight: 8 });
  });

  it('has an id that sorts by the time it was made', async () => {
    const fixture = await createEndpointsFixture();
    const ids: string[] = [];
    for (let made = 0; made < 20; made += 1) {
      ids.push((await fixture.create({ ...HTTP })).endpoint.id);
      await fixture.endpoints.archive(await fixture.target(ids.at(-1) ?? ''));
      fixture.advance(1);
    }
    expect(ids.toSorted()).toEqual(ids);
  });

  it('is refused beyond the limit, which archived ones do not count against', async () => {
    const fixture = await createEndpointsFixture({ endpointsMax: 2 });
    const { endpoint } = await fixture.create();
    await fixture.create();
    expect(await faultOf(fixture.create())).toMatchObject({ code: 'webhook_endpoint_limit', kind: 'conflict' });
    await fixture.endpoints.archive(await fixture.target(endpoint.id));
    await fixture.create();
  });

  it('keeps its answer in the transaction of the effect', async () => {
    const fixture = await createEndpointsFixture();
    const name = { organizationId: 'o', keyId: 'k', operation: 'x', value: 'v' };
    const receipt = ({ secret }: SecretEndpoint) => {
      return { name, fingerprint: Buffer.alloc(32), answer: Buffer.from(secret) };
    };
    const made = await fixture.endpoints.create({ ...(await fixture.call()), receipt }, HTTP);
    expect(fixture.keys.store.changes.at(-1)?.receipt?.answer.toString()).toBe(made.secret);
  });

  it('is refused to a caller who lost the permission meanwhile', async () => {
    const fixture = await createEndpointsFixture();
    const call = await fixture.keys.callWith(fixture.keys.callers.PQ.id);
    expect(await faultOf(fixture.endpoints.create(call, HTTP))).toMatchObject({
      code: 'insufficient_permissions',
      meta: { requiredPermission: 'webhookEndpoints:manage' },
    });
  });
});

describe('the shape of a new endpoint', () => {
  const long = (length: number) => 'a'.repeat(length);
  it.each<readonly [string, EndpointDraft, readonly string[]]>([
    ['no url', { enabledEvents: ['*'] }, ['url']],
    ['a null url', { url: null, enabledEvents: ['*'] }, ['url']],
    ['http with a queue', { ...HTTP, sqs: { queueUrl: QUEUE_URL } }, ['sqs']],
    ['a queue without its url', { ...SQS, sqs: {} }, ['sqs.queue_url']],
    ['no queue', { ...SQS, sqs: undefined }, ['sqs.queue_url']],
    ['a queue and a url', { ...SQS, url: 'https://example.com/' }, ['url']],
    ['a blank queue url', withQueue({ queueUrl: '  ' }), ['sqs.queue_url']],
    ['a long queue url', withQueue({ queueUrl: `https://${long(2_000)}` }), ['sqs.queue_url']],
    ['no selectors', { url: 'https://example.com/' }, ['enabled_events']],
    ['an empty list of selectors', { ...HTTP, enabledEvents: [] }, ['enabled_events']],
    ['too many selectors', { ...HTTP, enabledEvents: Array(101).fill('*') }, ['enabled_events']],
    ['a null control', { ...HTTP, maxInFlight: null }, ['max_in_flight']],
    ['several at once', { maxBatchSize: null }, ['url', 'enabled_events', 'max_batch_size']],
  ])('%s', async (_, draft, fields) => {
    const fixture = await createEndpointsFixture();
    expect(await faultOf(fixture.create(draft))).toMatchObject({
      code: 'validation_error',
      meta: { target: 'json', fields },
    });
    expect(fixture.resolved).toEqual([]);
  });

  it('null is returned for members of the other kind of destination, and for no description', async () => {
    const fixture = await createEndpointsFixture();
    expect((await fixture.create({ ...HTTP, sqs: null, description: null })).endpoint.destinationKind).toBe('http');
    expect((await fixture.create({ ...SQS, url: null })).endpoint.url).toBeNull();
  });
});

describe('the values of a new endpoint', () => {
  it.each<readonly [string, EndpointDraft, RegExp]>([
    ['nothing like a url', { ...HTTP, url: 'nonsense' }, /./],
    ['http', { ...HTTP, url: 'http://example.com/' }, /https/],
    ['a private host', { ...HTTP, url: 'https://10.0.0.1/' }, /host/],
    ['a local name', { ...HTTP, url: 'https://queue.internal/' }, /host/],
    ['another port', { ...HTTP, url: 'https://example.com:444/' }, /443/],
    ['a user', { ...HTTP, url: 'https://me@example.com/' }, /credentials/],
    ['the scheme before the host', { ...HTTP, url: 'http://10.0.0.1:1/' }, /https/],
    ['the host before the port', { ...HTTP, url: 'https://me@10.0.0.1:1/' }, /host/],
    ['the port before the user', { ...HTTP, url: 'https://me@example.com:1/' }, /443/],
    ['test.ping', { ...HTTP, enabledEvents: ['test.ping'] }, /enabled_events/],
    ['an unknown type', { ...HTTP, enabledEvents: ['*', 'gateway.request.deleted'] }, /enabled_events\.1/],
    ['half a family', { ...HTTP, enabledEvents: ['gateway.req*'] }, /enabled_events/],
    ['an empty batch', { ...HTTP, maxBatchSize: 0 }, /between 1 and 100/],
    ['a large batch', { ...HTTP, maxBatchSize: 101 }, /between 1 and 100/],
    ['a negative delay', { ...HTTP, maxBatchDelayMs: -1 }, /between 0 and 60000/],
    ['a long delay', { ...HTTP, maxBatchDelayMs: 60_001 }, /between 0 and 60000/],
    ['no slot', { ...HTTP, maxInFlight: 0 }, /between 1 and 8/],
    ['many slots', { ...HTTP, maxInFlight: 9 }, /between 1 and 8/],
    ['no queue at all', withQueue({ queueUrl: 'https://example.com/1/q', roleArn: ROLE }), /queue/i],
    ['a FIFO queue', withQueue({ queueUrl: `${QUEUE_URL}.fifo`, roleArn: ROLE }), /standard queue/],
    ['no role', withQueue({ roleArn: 'arn:aws:iam::1:role/x' }), /role/i],
    [
      'an external id without a role',
      withQueue({ externalId: 'x', accessKeyId: 'a', secretAccessKey: 'b' }),
      /external_id/,
    ],
    ['half a pair', withQueue({ accessKeyId: 'AKIA' }), /secret_access_key/],
    ['the other half', withQueue({ secretAccessKey: 'secret', roleArn: ROLE }), /access_key_id/],
    ['no credentials', withQueue({}), /credentials/],
    ['a dash in a key id', withQueue({ accessKeyId: 'AKIA\u2013', secretAccessKey: 's' }), /printable ASCII/],
    ['a letter beyond ASCII', withQueue({ accessKeyId: 'AKIA\u00e9', secretAccessKey: 's' }), /printable ASCII/],
    ['a line break in a key id', withQueue({ accessKeyId: 'AKIA\n', secretAccessKey: 's' }), /printable ASCII/],
  ])('%s is refused', async (_, draft, words) => {
    const fixture = await createEndpointsFixture();
    const fault = await faultOf(fixture.create(draft));
    expect(fault).toMatchObject({ code: 'webhook_endpoint_invalid', kind: 'bad_request', meta: {} });
    expect(fault.message).toMatch(words);
    expect(fixture.keys.store.changes).toEqual([]);
  });

  it('a host is resolved before it is stored, and one without an answer is accepted', async () => {
    const inside = await createEndpointsFixture({ addresses: ['93.184.216.34', '10.1.2.3'] });
    expect(await faultOf(inside.create())).toMatchObject({ code: 'webhook_endpoint_invalid' });
    const silent = await createEndpointsFixture({ addresses: [] });
    await silent.create();
    expect(silent.resolved).toEqual(['hooks.example.com']);
  });

  it('what the operator opened is taken', async () => {
    const fixture = await createEndpointsFixture({ allow: '127.0.0.1:9000' });
    expect((await fixture.create({ ...HTTP, url: 'http://127.0.0.1:9000/' })).endpoint.status).toBe('active');
    expect(await faultOf(fixture.create({ ...HTTP, url: 'http://127.0.0.1:9001/' }))).toMatchObject({
      code: 'webhook_endpoint_invalid',
    });
  });
});

describe('a new queue', () => {
  it('is returned in its parts, and its secret never', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create(
      withQueue({ queueUrl: ` ${QUEUE_URL} `, accessKeyId: 'AKIA', secretAccessKey: 'open sesame' }),
    );
    expect(endpoint.sqs).toEqual({
      queueUrl: QUEUE_URL,
      region: 'eu-west-1',
      accountId: '123456789012',
      queueName: 'events',
      credentialMode: 'static',
      roleArn: null,
      externalId: null,
      accessKeyId: 'AKIA',
    });
    expect(fixture.secrets.destination(fixture.stored(endpoint.id))).toMatchObject({
      credentials: { mode: 'static', accessKeyId: 'AKIA', secretAccessKey: 'open sesame' },
    });
  });

  it('with a role gets an external id, unless it names one', async () => {
    const fixture = await createEndpointsFixture();
    const made = await fixture.create(withQueue({ roleArn: ROLE }));
    expect(made.endpoint.sqs).toMatchObject({
      credentialMode: 'assume_role',
      externalId: expect.stringMatching(/^lw-[0-9a-f]{32}$/),
    });
    const named = await fixture.create(withQueue({ roleArn: ROLE, externalId: 'ours' }));
    expect(named.endpoint.sqs?.externalId).toBe('ours');
  });

  it('with a role and a pair takes the role on with the pair', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create(withQueue({ roleArn: ROLE, accessKeyId: 'AKIA', secretAccessKey: 's' }));
    expect(endpoint.sqs).toMatchObject({ credentialMode: 'assume_role', accessKeyId: 'AKIA' });
    expect(fixture.secrets.destination(fixture.stored(endpoint.id))).toMatchObject({
      credentials: { mode: 'assume_role', base: { accessKeyId: 'AKIA', secretAccessKey: 's' } },
    });
  });

  it('may have no credentials where the operator lends those of the server', async () => {
    const fixture = await createEndpointsFixture({ isAmbientAllowed: true });
    expect((await fixture.create(withQueue({}))).endpoint.sqs?.credentialMode).toBe('ambient');
  });
});
