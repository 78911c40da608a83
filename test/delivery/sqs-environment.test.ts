import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSqsSender, type SqsSender } from '../../src/delivery/sqs.ts';
import type { OutgoingMessage, SqsCredentials } from '../../src/domain/endpoints/destination.ts';
import { EXTERNAL_ID, KEYS, type QueueServer, ROLE_ARN, startQueueServer } from '../support/queue-server.ts';
import { temporaryFolder } from '../support/temp.ts';

/**
 * A machine whose environment and home directory say much about Amazon, and all of it something else than the destination.
 * Nothing of it may matter, and nobody may be asked for credentials.
 */

const NEVER = new AbortController().signal;
const MESSAGE: OutgoingMessage = {
  dispatchId: 'webhookendpoint_X:23135b55785c0090',
  attempt: 1,
  timestamp: 1_790_000_000,
  signatures: { standard: 'v1,a', langwatch: 't=1790000000,v1=a' },
  body: Buffer.from('{"batch":[]}'),
  test: false,
};

let queues: QueueServer;
let trap: QueueServer;
let sqs: SqsSender;
let home: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  queues = await startQueueServer();
  trap = await startQueueServer();
  const settings = [
    '[default]',
    'aws_access_key_id = AKIAFROMTHEHOMEDIR01',
    'aws_secret_access_key = from-the-home-directory',
    'region = ap-south-1',
    `endpoint_url = ${trap.origin}`,
    'max_attempts = 7',
    'retry_mode = adaptive',
    'use_fips_endpoint = true',
    'use_dualstack_endpoint = true',
    'sdk_ua_app_id = from-the-home-directory',
    'auth_scheme_preference = sigv4a',
    'defaults_mode = auto',
    'disable_clock_skew_correction = neither',
  ].join('\n');
  home = temporaryFolder();
  writeFileSync(join(home.path, 'config'), settings);
  writeFileSync(join(home.path, 'credentials'), settings);
  const environment = {
    AWS_CONFIG_FILE: join(home.path, 'config'),
    AWS_SHARED_CREDENTIALS_FILE: join(home.path, 'credentials'),
    AWS_ACCESS_KEY_ID: 'AKIAFROMENVIRONMENT1',
    AWS_SECRET_ACCESS_KEY: 'from-the-environment',
    AWS_SESSION_TOKEN: 'from-the-environment',
    AWS_REGION: 'ap-south-1',
    AWS_ENDPOINT_URL: trap.origin,
    AWS_ENDPOINT_URL_SQS: trap.origin,
    AWS_ENDPOINT_URL_STS: trap.origin,
    AWS_MAX_ATTEMPTS: '7',
    AWS_RETRY_MODE: 'adaptive',
    AWS_USE_FIPS_ENDPOINT: 'true',
    AWS_USE_DUALSTACK_ENDPOINT: 'true',
    AWS_SDK_UA_APP_ID: 'from-the-environment',
    AWS_AUTH_SCHEME_PREFERENCE: 'sigv4a',
    AWS_DEFAULTS_MODE: 'auto',
    AWS_DISABLE_CLOCK_SKEW_CORRECTION: 'neither',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: trap.origin,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${trap.origin}/credentials`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  sqs = createSqsSender({
    service: { endpoint: queues.origin, region: 'eu-north-1' },
    tokenEndpoint: queues.origin,
    isAmbientAllowed: () => false,
  });
});

afterAll(async () => {
  vi.unstubAllEnvs();
  sqs.close();
  home.remove();
  await Promise.all([queues.close(), trap.close()]);
});

it.each<SqsCredentials>([
  { mode: 'static', ...KEYS },
  { mode: 'assume_role', roleArn: ROLE_ARN, externalId: EXTERNAL_ID, base: KEYS },
])('files and variables of the machine do not affect $mode', async (credentials) => {
  const destination = { kind: 'sqs', queueUrl: queues.queueUrl, credentials } as const;
  expect(await sqs.send(destination, MESSAGE, NEVER)).toMatchObject({ kind: 'accepted' });
  const taken = queues.accepted.at(-1);
  expect(taken).toMatchObject({ region: 'eu-north-1' });
  expect(taken?.accessKeyId).toMatch(credentials.mode === 'static' ? KEYS.accessKeyId : /^ASIASESSIONKEY/);
  expect(taken?.userAgent).not.toContain('from-the');
  const before = queues.calls.sqs;
  queues.misbehave('sqs', { kind: 'refuse', refusal: { status: 500, name: 'InternalFailure', message: 'Later.' } });
  expect(await sqs.send(destination, MESSAGE, NEVER)).toMatchObject({ kind: 'refused' });
  expect(queues.calls.sqs).toBe(before + 1);
  expect(trap.calls).toEqual({ sqs: 0, sts: 0, other: 0 });
});

it('the credentials of the process are still refused', async () => {
  const destination = { kind: 'sqs', queueUrl: queues.queueUrl, credentials: { mode: 'ambient' } } as const;
  expect(await sqs.send(destination, MESSAGE, NEVER)).toMatchObject({ kind: 'refused', terminalHint: true });
  expect(trap.calls).toEqual({ sqs: 0, sts: 0, other: 0 });
});
