import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DestinationKind, EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import type { TestApp } from '../../support/app.ts';
import { callRpc } from '../../support/surfaces.ts';
import {
  BASE,
  call,
  create,
  HTTP,
  invoke,
  NOBODY_URL,
  QUEUE_URL,
  ROLE,
  SURFACES,
  startSending,
} from './endpoints-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startSending({ SPANDREL_ALLOW_AMBIENT_AWS: '1' });
});
afterAll(async () => {
  await app.close();
});

const SQS = { queue_url: QUEUE_URL, role_arn: ROLE, external_id: 'ours' };
const QUEUE = { destination_kind: 'sqs', sqs: SQS, enabled_events: ['*'] };
const PAIR = { accessKeyId: 'AKIA', secretAccessKey: 'open sesame' };

type ShownReasons = readonly (readonly [field: string, type: string, message: string])[];

describe('a REST body, which can set both destinations', () => {
  const NOT_HTTP = ['url', 'custom', 'url can only be set when destination_kind is http'] as const;
  const NOT_SQS = ['sqs', 'custom', 'sqs can only be set when destination_kind is sqs'] as const;

  it.each<readonly [string, object, ShownReasons]>([
    ['a queue beside a url', { ...HTTP, sqs: SQS }, [NOT_SQS]],
    ['an empty queue beside a url', { ...HTTP, sqs: {} }, [NOT_SQS]],
    ['a url beside a queue', { ...QUEUE, url: NOBODY_URL }, [NOT_HTTP]],
    [
      'a url beside a queue without its own',
      { ...QUEUE, url: NOBODY_URL, sqs: {} },
      [NOT_HTTP, ['sqs.queue_url', 'invalid_type', 'sqs.queue_url is required']],
    ],
    [
      'a queue without its kind',
      { sqs: SQS, enabled_events: ['*'] },
      [['url', 'invalid_type', 'url is required'], NOT_SQS],
    ],
    [
      'all that is wrong with either',
      { url: '', sqs: { queue_url: ' ', role_arn: '', access_key_id: '' }, enabled_events: [''] },
      [
        ['url', 'invalid_length', 'url must have 1 to 2000 characters'],
        ['sqs.role_arn', 'invalid_length', 'sqs.role_arn must have 1 to 2048 characters'],
        ['sqs.access_key_id', 'invalid_length', 'sqs.access_key_id must have 1 to 128 characters'],
        ['enabled_events.0', 'invalid_length', 'enabled_events.0 must have 1 to 200 characters'],
        NOT_SQS,
        ['sqs.queue_url', 'invalid_length', 'sqs.queue_url must have 1 to 2000 characters'],
      ],
    ],
  ])('makes nothing of %s', async (_, body, expected) => {
    const { status, body: answer } = await call(app, 'POST', BASE, { body });
    expect({ status, code: answer.error?.code }).toEqual({ status: 400, code: 'validation_error' });
    const reasons: { meta: { field: string; type: string; message: string } }[] = answer.error.meta.reasons;
    expect(reasons.map(({ meta }) => [meta.field, meta.type, meta.message])).toEqual(expected);
  });

  it('changes nothing, and says which of them the endpoint does not have', async () => {
    const http = await create(app);
    const queue = await create(app, QUEUE);
    const both = { url: `${NOBODY_URL}other`, sqs: { role_arn: ROLE } };
    for (const [id, body, message] of [
      [http.id, both, 'sqs cannot be set: the destination is a url.'],
      [http.id, { ...both, url: 'http://10.0.0.1/' }, expect.not.stringContaining('sqs')],
      [queue.id, both, 'url cannot be set: the destination is a queue.'],
      [queue.id, { ...both, url: 'http://10.0.0.1/' }, 'url cannot be set: the destination is a queue.'],
    ]) {
      const { status, body: answer } = await call(app, 'PATCH', `${BASE}/${id}`, { body });
      expect({ status, error: answer.error }).toMatchObject({
        status: 400,
        error: { code: 'webhook_endpoint_invalid', message },
      });
    }
    for (const { id, url, sqs } of [http, queue]) {
      expect((await call(app, 'GET', `${BASE}/${id}`)).body.data).toMatchObject({ url, sqs });
    }
  });

  it('may say of the other that it is null', async () => {
    const http = await create(app);
    const queue = await create(app, QUEUE);
    const moved = await call(app, 'PATCH', `${BASE}/${http.id}`, { body: { url: `${NOBODY_URL}other`, sqs: null } });
    expect(moved.body.data).toMatchObject({ url: `${NOBODY_URL}other`, sqs: null });
    const named = await call(app, 'PATCH', `${BASE}/${queue.id}`, { body: { url: null, sqs: { external_id: 'x' } } });
    expect(named.body.data).toMatchObject({ url: null, sqs: { ...SQS, external_id: 'x' } });
  });

  it('has a role and the key pair that assumes it beside one another', async () => {
    const pair = { access_key_id: 'AKIA', secret_access_key: 'open sesame' };
    const { sqs } = await create(app, { ...QUEUE, sqs: { ...SQS, ...pair } });
    expect(sqs).toMatchObject({ ...SQS, credential_mode: 'assume_role', access_key_id: 'AKIA' });
  });
});

describe.each(SURFACES)('an access key id that requests cannot be signed with, over %s,', (surface) => {
  const pair = { access_key_id: 'AKIA\u2013', secret_access_key: 'open sesame' };
  const refused = '400 webhook_endpoint_invalid';
  const message = 'sqs.access_key_id must be printable ASCII characters.';

  it.each([
    ['a new queue', { queue_url: QUEUE_URL, ...pair }],
    ['the role of a new queue', { ...SQS, ...pair }],
  ])('is refused in %s', async (_, sqs) => {
    const error = await invoke(app, [surface, 'createEndpoint'], { body: { ...QUEUE, sqs } }, refused);
    expect(error.message).toBe(message);
  });

  it('is refused in a change', async () => {
    const { id, sqs } = await create(app, QUEUE);
    const error = await invoke(app, [surface, 'updateEndpoint'], { id, body: { sqs: pair } }, refused);
    expect(error.message).toBe(message);
    expect((await call(app, 'GET', `${BASE}/${id}`)).body.data.sqs).toEqual(sqs);
  });
});

describe('a message, whose destination implies its kind', () => {
  const { createEndpoint, updateEndpoint } = EndpointService.method;
  type Request<M extends typeof createEndpoint | typeof updateEndpoint> = Parameters<typeof callRpc<M>>[1]['request'];
  type Queue = Extract<Request<typeof createEndpoint>['destination'], { case: 'sqs' }>['value'];
  type Credentials = NonNullable<Queue['credentials']>;
  const headers = () => ({ authorization: `Bearer ${app.adminKey}` });
  const make = (sqs: Queue, more: Request<typeof createEndpoint> = {}) => {
    const destination = { case: 'sqs', value: { queueUrl: QUEUE_URL, ...sqs } } as const;
    const request = { destination, enabledEvents: ['*'], ...more };
    return callRpc(app.address, { method: createEndpoint, request, headers: headers() });
  };
  const change = (id: string, sqs: Queue | null, paths?: readonly string[]) => {
    const request: Request<typeof updateEndpoint> = {
      id,
      ...(sqs === null ? {} : { endpoint: { destination: { case: 'sqs', value: sqs } } }),
      ...(paths === undefined ? {} : { updateMask: { paths: [...paths] } }),
    };
    return callRpc(app.address, { method: updateEndpoint, request, headers: headers() });
  };
  const queueOf = async (answering: ReturnType<typeof make>) => {
    const answer = await answering;
    if (!answer.ok) throw answer.error;
    return answer.body.data.sqs;
  };

  it.each<readonly [string, Credentials | undefined, object]>([
    [
      'a role',
      { case: 'assumeRole', value: { roleArn: ROLE, externalId: 'ours' } },
      { credential_mode: 'assume_role', role_arn: ROLE, external_id: 'ours', access_key_id: null },
    ],
    [
      'a role that a key pair assumes',
      { case: 'assumeRole', value: { roleArn: ROLE, externalId: 'ours', base: PAIR } },
      { credential_mode: 'assume_role', role_arn: ROLE, external_id: 'ours', access_key_id: 'AKIA' },
    ],
    [
      'a key pair',
      { case: 'accessKeys', value: PAIR },
      { credential_mode: 'static', role_arn: null, external_id: null, access_key_id: 'AKIA' },
    ],
    [
      'the credentials of the server',
      { case: 'ambient', value: {} },
      { credential_mode: 'ambient', role_arn: null, external_id: null, access_key_id: null },
    ],
    [
      'none, which are those of the server',
      undefined,
      { credential_mode: 'ambient', role_arn: null, external_id: null, access_key_id: null },
    ],
  ])('makes a queue with %s', async (_, credentials, expected) => {
    const answer = await make(credentials === undefined ? {} : { credentials });
    if (!answer.ok) throw answer.error;
    expect(answer.body.data).toMatchObject({ destination_kind: 'sqs', url: null, sqs: expected });
    expect(JSON.stringify(answer.body)).not.toContain(PAIR.secretAccessKey);
  });

  it.each<readonly [string, Credentials, string]>([
    ['a role without a name', { case: 'assumeRole', value: { base: PAIR } }, 'sqs.role_arn'],
    ['an empty key pair', { case: 'accessKeys', value: {} }, 'sqs.access_key_id'],
    ['an empty base', { case: 'assumeRole', value: { roleArn: ROLE, base: {} } }, 'sqs.access_key_id'],
  ])('makes and changes nothing with %s', async (_, credentials, field) => {
    const refused = { ok: false, code: 'validation_error', meta: { fields: [field] } };
    expect(await make({ credentials })).toMatchObject(refused);
    const { id } = await create(app, QUEUE);
    expect(await change(id, { credentials })).toMatchObject(refused);
  });

  it('is refused with the kind of another destination', async () => {
    const http = await make({}, { destinationKind: DestinationKind.HTTP });
    expect(http).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['url', 'sqs'] } });
    const url = { destination: { case: 'url', value: NOBODY_URL }, destinationKind: DestinationKind.SQS } as const;
    const sqs = await make({}, url);
    expect(sqs).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: ['url', 'sqs.queue_url'] } });
  });

  it('replaces credentials by others', async () => {
    const { id } = await create(app, QUEUE);
    const none = { role_arn: null, external_id: null, access_key_id: null };
    const keys = await queueOf(change(id, { credentials: { case: 'accessKeys', value: PAIR } }));
    expect(keys).toMatchObject({ ...none, credential_mode: 'static', access_key_id: 'AKIA' });
    const role = await queueOf(change(id, { credentials: { case: 'assumeRole', value: { roleArn: ROLE } } }));
    expect(role).toMatchObject({ credential_mode: 'assume_role', role_arn: ROLE, access_key_id: null });
    const ambient = await queueOf(change(id, { credentials: { case: 'ambient', value: {} } }));
    expect(ambient).toMatchObject({ ...none, credential_mode: 'ambient' });
  });

  it.each([
    ['sqs.assume_role', SQS],
    ['sqs.assume_role.role_arn', SQS],
    ['sqs.access_keys', { queue_url: QUEUE_URL, access_key_id: 'AKIA', secret_access_key: 's' }],
    ['sqs.access_keys.access_key_id', { queue_url: QUEUE_URL, access_key_id: 'AKIA', secret_access_key: 's' }],
  ])('removes the credentials that a mask names by %s', async (path, sqs) => {
    const { id } = await create(app, { ...QUEUE, sqs });
    expect(await queueOf(change(id, null, [path]))).toMatchObject({ credential_mode: 'ambient' });
  });

  const STORED = { queue_url: QUEUE_URL, access_key_id: 'AKIA', secret_access_key: 's' };
  const ROLE_WITH_BASE = { ...SQS, ...STORED };
  const IS_STATIC = { credential_mode: 'static', access_key_id: 'AKIA' };
  const HAS_BASE = { ...SQS, credential_mode: 'assume_role', access_key_id: 'AKIA' };

  it.each<readonly [string, object, object]>([
    ['sqs.assume_role', STORED, IS_STATIC],
    ['sqs.assume_role.base', STORED, IS_STATIC],
    ['sqs.assume_role.base.access_key_id', STORED, IS_STATIC],
    ['sqs.assume_role', ROLE_WITH_BASE, { credential_mode: 'ambient', role_arn: null, access_key_id: null }],
    ['sqs.assume_role.base', ROLE_WITH_BASE, { ...HAS_BASE, access_key_id: null }],
    ['sqs.access_keys', ROLE_WITH_BASE, HAS_BASE],
    ['sqs.access_keys.secret_access_key', ROLE_WITH_BASE, HAS_BASE],
  ])('clears by %s only what the stored credentials have there', async (path, sqs, expected) => {
    const { id } = await create(app, { ...QUEUE, sqs });
    expect(await queueOf(change(id, null, [path]))).toMatchObject(expected);
  });

  it('never puts the key pair of a role in the place of the role, or a secret with another pair', async () => {
    const { id } = await create(app, { ...QUEUE, sqs: ROLE_WITH_BASE });
    const base = { credentials: { case: 'assumeRole', value: { base: PAIR } } } as const;
    const refused = { ok: false, code: 'validation_error', meta: { fields: ['sqs.access_key_id'] } };
    expect(await change(id, base, ['sqs.assume_role.base'])).toMatchObject(refused);
    const secret = { secretAccessKey: 'new' };
    const ofPair = { credentials: { case: 'accessKeys', value: secret } } as const;
    const ofBase = { credentials: { case: 'assumeRole', value: { base: secret } } } as const;
    const invalid = { ok: false, code: 'webhook_endpoint_invalid' };
    expect(await change(id, ofPair, ['sqs.access_keys.secret_access_key'])).toMatchObject(invalid);
    expect(await queueOf(change(id, ofBase, ['sqs.assume_role.base.secret_access_key']))).toMatchObject(HAS_BASE);
    const { id: other } = await create(app, { ...QUEUE, sqs: STORED });
    expect(await change(other, ofBase, ['sqs.assume_role.base.secret_access_key'])).toMatchObject(invalid);
  });

  it('is refused where the mask omits its credentials', async () => {
    const { id } = await create(app, QUEUE);
    for (const [credentials, field] of [
      [{ case: 'assumeRole', value: { roleArn: ROLE } }, 'sqs.role_arn'],
      [{ case: 'accessKeys', value: { accessKeyId: 'AKIA' } }, 'sqs.access_key_id'],
      [{ case: 'ambient', value: {} }, 'sqs'],
    ] as const) {
      const answer = await change(id, { queueUrl: QUEUE_URL, credentials }, ['sqs.queue_url']);
      expect(answer).toMatchObject({ ok: false, code: 'validation_error', meta: { fields: [field] } });
    }
  });

  it('keeps what the mask does not name', async () => {
    const { id } = await create(app, QUEUE);
    const renamed = { credentials: { case: 'assumeRole', value: { externalId: 'theirs' } } } as const;
    for (const path of ['sqs', 'sqs.assume_role', 'sqs.assume_role.external_id']) {
      const sqs = await queueOf(change(id, renamed, [path]));
      expect(sqs).toMatchObject({ ...SQS, external_id: 'theirs' });
    }
  });
});
