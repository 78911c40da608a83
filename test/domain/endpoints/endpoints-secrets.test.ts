import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createEndpointSecrets } from '../../../src/domain/endpoints/endpoint-secrets.ts';
import { faultOf, NOW_MS } from '../keys/keys-fixture.ts';
import { createEndpointsFixture, QUEUE_URL, SQS } from './endpoints-fixture.ts';

describe('what is sealed', () => {
  const secrets = createEndpointSecrets({ encryptionKeys: [Buffer.alloc(32, 7)], random: randomBytes });
  const sealed = secrets.seal('webhookendpoint_1', 'secret', 'whsec_x');

  it('opens where it was sealed', () => {
    expect(secrets.open('webhookendpoint_1', 'secret', sealed)).toBe('whsec_x');
    expect(sealed.toString('latin1')).not.toContain('whsec_x');
  });

  it.each([
    ['another endpoint', 'webhookendpoint_2', 'secret'],
    ['another field', 'webhookendpoint_1', 'previous_secret'],
  ] as const)('does not open for %s', (_, id, field) => {
    expect(() => secrets.open(id, field, sealed)).toThrow();
  });

  it('does not open under another key', () => {
    const others = createEndpointSecrets({ encryptionKeys: [Buffer.alloc(32, 8)], random: randomBytes });
    expect(() => others.open('webhookendpoint_1', 'secret', sealed)).toThrow();
  });
});

describe('rolling a secret', () => {
  it('signs with the new one first, and with the old one until the very end of its time', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint, secret: old } = await fixture.create();
    fixture.advance(5);
    const { secret, endpoint: rolled } = await fixture.roll(endpoint.id, 10);
    expect(rolled).toMatchObject({ updatedAtMs: NOW_MS + 5, createdAtMs: NOW_MS });
    expect(secret).not.toBe(old);
    expect(fixture.signing(endpoint.id)).toEqual([secret, old]);
    expect(fixture.signing(endpoint.id, NOW_MS + 5 + 9_999)).toEqual([secret, old]);
    expect(fixture.signing(endpoint.id, NOW_MS + 5 + 10_000)).toEqual([secret]);
    expect(fixture.audit().at(-1)).toMatchObject({ action: 'webhookEndpoint.rollSecret', targetId: endpoint.id });
  });

  it('without an overlap ends the old one at once', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    const { secret } = await fixture.roll(endpoint.id, 0);
    expect(fixture.signing(endpoint.id)).toEqual([secret]);
    expect(fixture.stored(endpoint.id)).toMatchObject({ previousSecret: null, previousSecretUntilMs: null });
  });

  it('again drops the older of the two before', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    const second = await fixture.roll(endpoint.id);
    const third = await fixture.roll(endpoint.id);
    expect(fixture.signing(endpoint.id)).toEqual([third.secret, second.secret]);
  });

  it('works while the endpoint is disabled, and leaves its streak alone', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    fixture.touch(endpoint.id, { status: 'disabled', disabledReason: 'manual', failingSinceMs: NOW_MS });
    const { endpoint: rolled } = await fixture.roll(endpoint.id);
    expect(rolled).toMatchObject({ status: 'disabled', failingSinceMs: NOW_MS });
    expect(fixture.stored(endpoint.id)).toMatchObject({ run: 1, destinationVersion: 1 });
  });

  it('a hundred times at once answers secrets that were valid, and leaves two', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create();
    const answered: string[] = [];
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const { secret } = await fixture.roll(endpoint.id, 0);
        expect(fixture.signing(endpoint.id)).toEqual([secret]);
        answered.push(secret);
      }),
    );
    expect(new Set(answered).size).toBe(100);
    expect(fixture.signing(endpoint.id)).toEqual([answered.at(-1)]);
  });
});

describe('archiving', () => {
  it('hides the endpoint for ever and erases its secrets', async () => {
    const fixture = await createEndpointsFixture();
    const { endpoint } = await fixture.create({
      ...SQS,
      sqs: { queueUrl: QUEUE_URL, accessKeyId: 'A', secretAccessKey: 's' },
    });
    await fixture.roll(endpoint.id);
    await fixture.endpoints.archive(await fixture.target(endpoint.id));
    expect(fixture.stored(endpoint.id)).toMatchObject({ archivedAtMs: NOW_MS, previousSecret: null });
    expect(fixture.stored(endpoint.id).secret).toHaveLength(0);
    expect(fixture.stored(endpoint.id).sqs?.secretAccessKey).toBeNull();
    expect(fixture.audit().at(-1)).toMatchObject({ action: 'webhookEndpoint.archive', targetId: endpoint.id });
    for (const again of [
      fixture.endpoints.archive(await fixture.target(endpoint.id)),
      fixture.endpoints.get(await fixture.target(endpoint.id)),
      fixture.update(endpoint.id, {}),
      fixture.roll(endpoint.id),
    ]) {
      expect(await faultOf(again)).toMatchObject({ code: 'webhook_endpoint_not_found' });
    }
    expect((await fixture.endpoints.list(await fixture.call(), { cursor: '', limit: null })).endpoints).toEqual([]);
  });
});
