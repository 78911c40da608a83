/** What a request states about a queue beside its address and credentials, and the status of a new endpoint. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { BASE, call, create, HTTP, invoke, QUEUE_URL, ROLE, SURFACES, startSending } from './endpoints-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startSending({ SPANDREL_ALLOW_AMBIENT_AWS: '1' });
});
afterAll(async () => {
  await app.close();
});

const PAIR = { access_key_id: 'AKIA', secret_access_key: 'open sesame' };
const queue = (sqs: object) => ({
  destination_kind: 'sqs',
  enabled_events: ['*'],
  sqs: { queue_url: QUEUE_URL, ...sqs },
});

describe.each(SURFACES)('a new queue over %s', (surface) => {
  it.each([
    ['static credentials without a key pair', { credential_mode: 'static' }, 'sqs.credential_mode', 'ambient'],
    ['a role without one', { credential_mode: 'assume_role', ...PAIR }, 'sqs.credential_mode', 'static'],
    [
      'those of the server beside a role',
      { credential_mode: 'ambient', role_arn: ROLE },
      'sqs.credential_mode',
      'assume_role',
    ],
    ['another region', { region: 'us-east-1' }, 'sqs.region', 'eu-west-1'],
    ['another account', { account_id: '210987654321' }, 'sqs.account_id', '123456789012'],
    ['another name', { queue_name: 'other' }, 'sqs.queue_name', 'events'],
  ])('is refused where it states %s', async (_what, sqs, field, implied) => {
    const before = await count();
    const wanted = '400 webhook_endpoint_invalid';
    const error = await invoke(app, [surface, 'createEndpoint'], { body: queue(sqs) }, wanted);
    expect(error.message).toMatch(new RegExp(`^${field} contradicts the rest of sqs: .* ${implied}\\.$`));
    expect(await count()).toBe(before);
  });

  it('is taken where all that it states is so', async () => {
    const stated = { region: 'eu-west-1', account_id: '123456789012', queue_name: 'events' };
    const body = queue({ ...stated, credential_mode: 'static', ...PAIR });
    const { data } = await invoke(app, [surface, 'createEndpoint'], { body });
    expect(data.sqs).toMatchObject({ ...stated, credential_mode: 'static', access_key_id: 'AKIA' });
  });
});

describe.each(SURFACES)('a change of a queue over %s', (surface) => {
  const change = (id: string, body: object, wanted: string | null = null) =>
    invoke(app, [surface, 'updateEndpoint'], { id, body }, wanted);

  it('is refused where it contradicts what the queue would become', async () => {
    const { id, sqs } = await create(app, queue(PAIR));
    const refused: readonly (readonly [object, string])[] = [
      [{ credential_mode: 'ambient' }, 'sqs.credential_mode'],
      [{ role_arn: ROLE, credential_mode: 'static' }, 'sqs.credential_mode'],
      [{ region: 'us-east-1' }, 'sqs.region'],
      [{ queue_url: 'https://sqs.us-east-1.amazonaws.com/123456789012/events', region: 'eu-west-1' }, 'sqs.region'],
    ];
    for (const [sent, field] of refused) {
      const { message } = await change(id, { sqs: sent }, '400 webhook_endpoint_invalid');
      expect(message).toContain(`${field} contradicts the rest of sqs`);
    }
    expect((await call(app, 'GET', `${BASE}/${id}`)).body.data.sqs).toEqual(sqs);
  });

  it('takes an endpoint back as it was read, and follows what it states with the change', async () => {
    const { id } = await create(app, queue(PAIR));
    const { data } = (await call(app, 'GET', `${BASE}/${id}`)).body;
    expect((await change(id, data)).data).toEqual(data);
    const moved = { role_arn: ROLE, credential_mode: 'assume_role' };
    expect((await change(id, { sqs: moved })).data.sqs).toMatchObject({ ...moved, access_key_id: null });
  });
});

describe.each(SURFACES)('the status of a new endpoint over %s', (surface) => {
  it('is honoured: a disabled one is stored as such, and an update enables it', async () => {
    const body = { ...HTTP, status: 'disabled' };
    const { data } = await invoke(app, [surface, 'createEndpoint'], { body });
    expect(data).toMatchObject({ status: 'disabled', disabled_reason: 'manual', disabled_at: data.created_at });
    expect((await call(app, 'GET', `${BASE}/${data.id}`)).body.data).toMatchObject({ status: 'disabled' });
    const enabled = await invoke(app, [surface, 'updateEndpoint'], { id: data.id, body: { status: 'active' } });
    expect(enabled.data).toMatchObject({ status: 'active', disabled_reason: null, disabled_at: null });
  });

  it('is active when the request says so or nothing', async () => {
    for (const body of [HTTP, { ...HTTP, status: 'active' }]) {
      const { data } = await invoke(app, [surface, 'createEndpoint'], { body });
      expect(data).toMatchObject({ status: 'active', disabled_reason: null, disabled_at: null });
    }
  });
});

describe('a word that is not a status', () => {
  it('is refused in a new endpoint', async () => {
    const { status, body } = await call(app, 'POST', BASE, { body: { ...HTTP, status: 'paused' } });
    expect([status, body.error.code, body.error.meta.fields]).toEqual([400, 'validation_error', ['status']]);
  });
});

async function count(): Promise<number> {
  return (await call(app, 'GET', BASE)).body.data.length;
}
