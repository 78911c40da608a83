/** What an organization keeps sealed, and whether it survives a new root secret. */

import { expect } from 'vitest';
import { type EncryptionKeys, openFor } from '../../src/domain/secrets.ts';
import type { Store } from '../../src/domain/store.ts';
import { type Body, callRest } from '../support/surfaces.ts';

type Server = {
  readonly address: string;
  readonly adminKey: string;
  readonly projectKey: string;
  readonly store: Pick<Store, 'sealed'>;
};

export const SEALED_TEXTS = {
  providerKey: 'sk-of-the-provider-1234',
  queueKey: 'queue-secret-access-key',
  slackUrl: 'https://hooks.slack.com/services/T0/B0/secret-part',
  idempotencyKey: 'a-key-made-before-the-rotation',
};

/** Makes a value in each sealed column. Returns the answer that its idempotency key must repeat. */
export async function sealEverything(server: Server): Promise<Body> {
  const events = { enabled_events: ['gateway.virtual_key.*'] };
  const endpoint = await send(server, '/api/webhooks/v1/endpoints', { url: 'https://example.com/in', ...events });
  await send(server, `/api/webhooks/v1/endpoints/${endpoint.data.id}/roll-secret`, undefined);
  const archived = await send(server, '/api/webhooks/v1/endpoints', { url: 'https://example.com/gone', ...events });
  const headers = { authorization: `Bearer ${server.adminKey}` };
  const path = `/api/webhooks/v1/endpoints/${archived.data.id}`;
  expect((await callRest(server.address, { verb: 'DELETE', path, headers })).status).toBe(200);
  const sqs = {
    queue_url: 'https://sqs.eu-west-1.amazonaws.com/123456789012/events',
    ...{ access_key_id: 'AKIAEXAMPLE', secret_access_key: SEALED_TEXTS.queueKey },
  };
  await send(server, '/api/webhooks/v1/endpoints', { sqs, destination_kind: 'sqs', ...events });
  const provider = { name: 'models', kind: 'openai', api_key: SEALED_TEXTS.providerKey };
  await send(server, '/api/gateway/v1/model-providers', provider);
  const slack = { slackWebhook: SEALED_TEXTS.slackUrl };
  const trigger = {
    ...{ name: 'Failures', kind: 'trace', filters: { 'traces.error': ['true'] } },
    ...{ action: 'SEND_SLACK_MESSAGE', actionParams: slack },
  };
  await send(server, '/api/triggers', trigger, { authorization: `Bearer ${server.projectKey}` });
  return await repeatable(server);
}

/** Creates an API key once, however often it is called. */
export function repeatable(server: Server): Promise<Body> {
  const body = { name: 'Made once', keyType: 'service', permissionMode: 'all' };
  return send(server, '/api/api-keys', body, { 'idempotency-key': SEALED_TEXTS.idempotencyKey });
}

/** The texts of every sealed column, which MUST open with these keys alone. */
export async function openEverything({ store: { sealed } }: Pick<Server, 'store'>, keys: EncryptionKeys) {
  const opened = new Map<string, readonly string[]>();
  for (const column of await sealed.columns()) {
    const { values } = await sealed.list(column, null);
    opened.set(
      column,
      values.map(({ belongsTo, sealed: value }) => openFor({ keys, belongsTo }, value).toString()),
    );
  }
  return opened;
}

async function send(server: Server, path: string, body: object | undefined, more: object = {}): Promise<Body> {
  const headers = { authorization: `Bearer ${server.adminKey}`, ...more };
  const answer = await callRest(server.address, {
    verb: 'POST',
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
}
