import { describe, expect, it } from 'vitest';
import type { EndpointDraft, SqsDraft } from '../../../src/domain/endpoints/endpoint-draft.ts';
import { faultOf, NOW_MS } from '../keys/keys-fixture.ts';
import { createEndpointsFixture, type EndpointsFixture, HTTP, QUEUE_URL, ROLE, SQS } from './endpoints-fixture.ts';

const PAIR = { accessKeyId: 'AKIA', secretAccessKey: 'old secret' };
const OTHER_ROLE = 'arn:aws:iam::123456789012:role/other';

async function withEndpoint(draft: EndpointDraft = HTTP) {
  const fixture = await createEndpointsFixture();
  const { endpoint } = await fixture.create(draft);
  const failing = {
    failingSinceMs: NOW_MS,
    lastFailureAtMs: NOW_MS,
    lastSuccessAtMs: NOW_MS - 1,
    consecutiveFailures: 3,
  };
  fixture.touch(endpoint.id, failing);
  fixture.advance(1_000);
  return { fixture, id: endpoint.id, before: fixture.stored(endpoint.id) };
}

const queue = (sqs: SqsDraft): EndpointDraft => ({ ...SQS, sqs: { queueUrl: QUEUE_URL, ...sqs } });

function credentials({ fixture, id }: { fixture: EndpointsFixture; id: string }) {
  const destination = fixture.secrets.destination(fixture.stored(id));
  if (destination.kind !== 'sqs') throw new Error('no queue');
  return destination.credentials;
}

describe('what changes nothing', () => {
  it.each<readonly [string, EndpointDraft, EndpointDraft]>([
    ['nothing', HTTP, {}],
    ['the same url', HTTP, { url: HTTP.url }],
    ['the same kind', HTTP, { destinationKind: 'http' }],
    ['the same status', HTTP, { status: 'active' }],
    ['the same selectors', HTTP, { enabledEvents: ['*'] }],
    ['the same controls', HTTP, { maxBatchSize: 100, maxBatchDelayMs: 250, maxInFlight: 4 }],
    ['no description where there is none', HTTP, { description: null }],
    ['null for what a url has not', HTTP, { sqs: null }],
    ['null for what a queue has not', SQS, { url: null }],
    ['a queue of which nothing is said', SQS, { sqs: {} }],
    ['the same queue', SQS, { sqs: { queueUrl: QUEUE_URL, roleArn: ROLE } }],
    ['the same pair', queue(PAIR), { sqs: PAIR }],
    ['the same id alone', queue(PAIR), { sqs: { accessKeyId: 'AKIA' } }],
    ['no role where there is none', queue(PAIR), { sqs: { roleArn: null, externalId: null } }],
  ])('%s', async (_, made, draft) => {
    const { fixture, id, before } = await withEndpoint(made);
    const changes = fixture.keys.store.changes.length;
    const view = await fixture.update(id, draft);
    expect(fixture.stored(id)).toBe(before);
    expect(fixture.keys.store.changes).toHaveLength(changes);
    expect(view).toMatchObject({ updatedAtMs: NOW_MS, failingSinceMs: NOW_MS });
  });

  it('is not resolved again', async () => {
    const { fixture, id } = await withEndpoint();
    fixture.resolved.length = 0;
    await fixture.update(id, { url: 'https://hooks.example.com/in' });
    expect(fixture.resolved).toEqual([]);
  });
});

describe('what cannot be changed', () => {
  it.each<readonly [string, EndpointDraft, EndpointDraft, RegExp]>([
    ['the kind', HTTP, { destinationKind: 'sqs' }, /cannot be changed/],
    ['the kind of a queue', SQS, { destinationKind: 'http' }, /cannot be changed/],
    ['a url on a queue', SQS, { url: 'https://example.com/' }, /url/],
    ['a queue on a url', HTTP, { sqs: { queueUrl: QUEUE_URL } }, /sqs/],
    ['an empty queue on a url', HTTP, { sqs: {} }, /sqs/],
    ['no url', HTTP, { url: null }, /url/],
    ['no queue', SQS, { sqs: null }, /sqs/],
    ['a url that is none', HTTP, { url: 'http://example.com/' }, /https/],
    ['an unknown selector', HTTP, { enabledEvents: ['test.ping'] }, /enabled_events/],
    ['a control out of bounds', HTTP, { status: 'disabled', maxInFlight: 9 }, /between 1 and 8/],
    ['a FIFO queue', SQS, { sqs: { queueUrl: `${QUEUE_URL}.fifo` } }, /standard queue/],
    ['role and pair at once', SQS, { sqs: { roleArn: OTHER_ROLE, ...PAIR } }, /role_arn\|access_key_id/],
    ['another id without its secret', queue(PAIR), { sqs: { accessKeyId: 'AKIB' } }, /secret_access_key/],
    ['an id where there was none', SQS, { sqs: { accessKeyId: 'AKIA' } }, /secret_access_key/],
    ['a secret where there is no id', SQS, { sqs: { secretAccessKey: 's' } }, /access_key_id/],
    [
      'a role with the secret of a pair',
      queue(PAIR),
      { sqs: { roleArn: ROLE, secretAccessKey: 's' } },
      /access_key_id/,
    ],
    ['an external id without a role', queue(PAIR), { sqs: { externalId: 'x' } }, /external_id/],
    ['a pair that drops the role, with an external id', SQS, { sqs: { ...PAIR, externalId: 'x' } }, /external_id/],
    ['the last credentials', SQS, { sqs: { roleArn: null } }, /credentials/],
    ['the last pair', queue(PAIR), { sqs: { secretAccessKey: null } }, /credentials/],
  ])('%s', async (_, made, draft, words) => {
    const { fixture, id, before } = await withEndpoint(made);
    const fault = await faultOf(fixture.update(id, draft));
    expect(fault).toMatchObject({ code: 'webhook_endpoint_invalid', meta: {} });
    expect(fault.message).toMatch(words);
    expect(fixture.stored(id)).toBe(before);
  });

  it.each<readonly [string, EndpointDraft, readonly string[]]>([
    ['an empty list of selectors', { enabledEvents: [] }, ['enabled_events']],
    ['null controls', { maxBatchSize: null, maxInFlight: null }, ['max_batch_size', 'max_in_flight']],
    ['a null queue url', { sqs: { queueUrl: null } }, ['sqs.queue_url']],
  ])('the shape of %s is validated before the endpoint is read', async (_, draft, fields) => {
    const fixture = await createEndpointsFixture();
    expect(await faultOf(fixture.update('unknown', draft))).toMatchObject({
      code: 'validation_error',
      meta: { fields },
    });
  });

  it('an unknown endpoint is not found before its new url is validated', async () => {
    const fixture = await createEndpointsFixture();
    expect(await faultOf(fixture.update('unknown', { url: 'nonsense' }))).toMatchObject({
      code: 'webhook_endpoint_not_found',
    });
  });
});

describe('what changes', () => {
  it('is stored at once, and audited field by field', async () => {
    const { fixture, id } = await withEndpoint();
    const view = await fixture.update(id, {
      url: 'https://other.example.com/',
      enabledEvents: ['gateway.request.*'],
      status: 'disabled',
      maxBatchSize: 1,
      description: 'for the night',
    });
    expect(view).toMatchObject({
      url: 'https://other.example.com/',
      enabledEvents: ['gateway.request.*'],
      status: 'disabled',
      disabledReason: 'manual',
      disabledAtMs: NOW_MS + 1_000,
      maxBatchSize: 1,
      maxInFlight: 4,
      updatedAtMs: NOW_MS + 1_000,
    });
    expect(fixture.keys.store.changes.at(-1)?.audit).toMatchObject([
      {
        action: 'webhookEndpoint.update',
        targetId: id,
        fields: ['url', 'enabled_events', 'status', 'max_batch_size', 'description'],
      },
    ]);
  });

  it('another url or queue begins a new streak, at a new destination', async () => {
    const http = await withEndpoint();
    const view = await http.fixture.update(http.id, { url: 'https://other.example.com/' });
    expect(view).toMatchObject({ failingSinceMs: null, consecutiveFailures: 0, lastFailureAtMs: NOW_MS });
    expect(http.fixture.stored(http.id)).toMatchObject({ destinationVersion: 2, run: 1, failingSinceMs: null });
    const sqs = await withEndpoint(SQS);
    await sqs.fixture.update(sqs.id, { sqs: { queueUrl: `${QUEUE_URL}2` } });
    expect(sqs.fixture.stored(sqs.id)).toMatchObject({ destinationVersion: 2, failingSinceMs: null });
    const same = await withEndpoint(SQS);
    await same.fixture.update(same.id, { sqs: { externalId: 'another' } });
    expect(same.fixture.stored(same.id)).toMatchObject({ destinationVersion: 1, failingSinceMs: NOW_MS });
  });

  it('disabling keeps the streak, enabling ends it and begins a run', async () => {
    const { fixture, id } = await withEndpoint();
    expect(await fixture.update(id, { status: 'disabled' })).toMatchObject({ failingSinceMs: NOW_MS });
    const again = await fixture.update(id, { status: 'disabled' });
    expect(again.disabledAtMs).toBe(NOW_MS + 1_000);
    fixture.advance(1_000);
    const view = await fixture.update(id, { status: 'active' });
    expect(view).toMatchObject({ status: 'active', disabledReason: null, disabledAtMs: null, failingSinceMs: null });
    expect(fixture.stored(id)).toMatchObject({ run: 2, destinationVersion: 1, consecutiveFailures: 0 });
  });

  it('an automatic reason is kept by who disables what is disabled', async () => {
    const { fixture, id } = await withEndpoint();
    fixture.touch(id, { status: 'disabled', disabledReason: 'receiver_gone', disabledAtMs: NOW_MS });
    expect(await fixture.update(id, { status: 'disabled', maxInFlight: 1 })).toMatchObject({
      disabledReason: 'receiver_gone',
      disabledAtMs: NOW_MS,
    });
  });

  it('null removes a description', async () => {
    const { fixture, id } = await withEndpoint({ ...HTTP, description: 'x' });
    await fixture.update(id, { description: null });
    expect(fixture.stored(id).description).toBeNull();
  });

  it('what deliveries changed at the same moment is not lost', async () => {
    const { fixture, id } = await withEndpoint();
    const changing = fixture.update(id, { maxInFlight: 1 });
    fixture.touch(id, { status: 'disabled', disabledReason: 'receiver_gone', disabledAtMs: NOW_MS });
    await changing;
    expect(fixture.stored(id)).toMatchObject({ maxInFlight: 1, status: 'disabled', disabledReason: 'receiver_gone' });
  });
});

describe('the credentials of a queue', () => {
  const base = { accessKeyId: 'AKIA', secretAccessKey: 'old secret' };
  it('a role that is named drops the pair', async () => {
    const made = await withEndpoint(queue(PAIR));
    const view = await made.fixture.update(made.id, { sqs: { roleArn: ROLE } });
    expect(view.sqs).toMatchObject({ credentialMode: 'assume_role', roleArn: ROLE, accessKeyId: null });
    expect(view.sqs?.externalId).toMatch(/^lw-[0-9a-f]{32}$/);
    expect(credentials(made)).toMatchObject({ mode: 'assume_role', base: null });
  });

  it('a pair that is named drops the role', async () => {
    const made = await withEndpoint(SQS);
    const view = await made.fixture.update(made.id, { sqs: PAIR });
    expect(view.sqs).toMatchObject({ credentialMode: 'static', roleArn: null, externalId: null });
    expect(credentials(made)).toEqual({ mode: 'static', ...base });
  });

  it('what is not named stays', async () => {
    const made = await withEndpoint(queue({ roleArn: ROLE, externalId: 'ours', ...PAIR }));
    await made.fixture.update(made.id, { sqs: { queueUrl: `${QUEUE_URL}2` } });
    expect(credentials(made)).toEqual({ mode: 'assume_role', roleArn: ROLE, externalId: 'ours', base });
    await made.fixture.update(made.id, { sqs: { secretAccessKey: 'new secret' } });
    expect(credentials(made)).toMatchObject({ mode: 'assume_role', base: { secretAccessKey: 'new secret' } });
  });

  it('an id that stays keeps its secret', async () => {
    const made = await withEndpoint(queue({ roleArn: ROLE, ...PAIR }));
    await made.fixture.update(made.id, { sqs: { accessKeyId: 'AKIA' } });
    expect(credentials(made)).toEqual({ mode: 'static', ...base });
  });

  it('null removes the role together with its external id, and the pair as a whole', async () => {
    const role = await withEndpoint(queue({ roleArn: ROLE, ...PAIR }));
    const view = await role.fixture.update(role.id, { sqs: { roleArn: null } });
    expect(view.sqs).toMatchObject({ credentialMode: 'static', roleArn: null, externalId: null, accessKeyId: 'AKIA' });
    for (const cleared of [{ accessKeyId: null }, { secretAccessKey: null }]) {
      const pair = await withEndpoint(queue({ roleArn: ROLE, ...PAIR }));
      await pair.fixture.update(pair.id, { sqs: cleared });
      expect(credentials(pair)).toMatchObject({ mode: 'assume_role', base: null });
    }
  });

  it('null replaces the external id of a role by a new one', async () => {
    const made = await withEndpoint(queue({ roleArn: ROLE, externalId: 'ours' }));
    const view = await made.fixture.update(made.id, { sqs: { externalId: null } });
    expect(view.sqs?.externalId).toMatch(/^lw-[0-9a-f]{32}$/);
  });

  it('a role for another keeps the external id', async () => {
    const made = await withEndpoint(queue({ roleArn: ROLE, externalId: 'ours' }));
    const view = await made.fixture.update(made.id, { sqs: { roleArn: OTHER_ROLE } });
    expect(view.sqs).toMatchObject({ roleArn: OTHER_ROLE, externalId: 'ours' });
  });

  it('a secret is encrypted again only when it changes', async () => {
    const made = await withEndpoint(queue(PAIR));
    const sealed = made.before.sqs?.secretAccessKey;
    await made.fixture.update(made.id, { sqs: { queueUrl: `${QUEUE_URL}2` } });
    expect(made.fixture.stored(made.id).sqs?.secretAccessKey).toBe(sealed);
    await made.fixture.update(made.id, { sqs: { secretAccessKey: 'new' } });
    expect(made.fixture.stored(made.id).sqs?.secretAccessKey).not.toBe(sealed);
  });
});
