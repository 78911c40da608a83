import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqsSender, type SqsDeps, type SqsSender } from '../../src/delivery/sqs.ts';
import type { AttemptResult, OutgoingMessage, SqsCredentials } from '../../src/domain/endpoints/destination.ts';
import { EXTERNAL_ID, KEYS, type QueueServer, ROLE_ARN, startQueueServer } from '../support/queue-server.ts';
import { startStopwatch } from '../support/turns.ts';

const NEVER = new AbortController().signal;
const MESSAGE: OutgoingMessage = {
  dispatchId: 'webhookendpoint_X:23135b55785c0090',
  attempt: 1,
  timestamp: 1_790_000_000,
  signatures: { standard: 'v1,a', langwatch: 't=1790000000,v1=a' },
  body: Buffer.from('{"batch":[]}'),
  test: false,
};
const ROLE = { mode: 'assume_role', roleArn: ROLE_ARN, externalId: EXTERNAL_ID, base: KEYS } as const;

let queues: QueueServer;
const senders: SqsSender[] = [];

beforeEach(async () => {
  queues = await startQueueServer();
});

afterEach(async () => {
  for (const sender of senders.splice(0)) sender.close();
  await queues.close();
});

function sender(deps: Partial<SqsDeps> = {}): (credentials: SqsCredentials) => Promise<AttemptResult> {
  const made = createSqsSender({
    service: { endpoint: queues.origin, region: 'eu-north-1' },
    tokenEndpoint: queues.origin,
    isAmbientAllowed: () => false,
    ...deps,
  });
  senders.push(made);
  return (credentials) => made.send({ kind: 'sqs', queueUrl: queues.queueUrl, credentials }, MESSAGE, NEVER);
}

/** The text of a refusal, in which no secret may be. */
function errorOf(result: AttemptResult, ...alsoSecret: readonly string[]): string {
  if (result.kind !== 'refused') throw new Error('the attempt was accepted');
  for (const secret of [...queues.secrets(), ...alsoSecret]) expect(result.error).not.toContain(secret);
  return result.error;
}

describe('a role', () => {
  it('is assumed once for many messages', async () => {
    const send = sender();
    const results = await Promise.all([send(ROLE), send(ROLE), send(ROLE)]);
    expect([...results, await send(ROLE)]).toMatchObject(Array(4).fill({ kind: 'accepted' }));
    expect(queues.sessionRequests).toHaveLength(1);
    expect(Object.fromEntries(queues.sessionRequests[0] ?? [])).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: ROLE_ARN,
      RoleSessionName: 'spandrel-webhooks',
      DurationSeconds: '900',
      ExternalId: EXTERNAL_ID,
    });
    expect(queues.accepted.map(({ accessKeyId }) => accessKeyId)).toEqual(Array(4).fill('ASIASESSIONKEY000001'));
  });

  it('is assumed again after its session was refused', async () => {
    const send = sender();
    await send(ROLE);
    queues.expireSessions();
    expect(errorOf(await send(ROLE))).toMatch(/^ExpiredToken: /);
    expect(await send(ROLE)).toMatchObject({ kind: 'accepted' });
    expect(queues.accepted.map(({ accessKeyId }) => accessKeyId)).toEqual([
      'ASIASESSIONKEY000001',
      'ASIASESSIONKEY000002',
    ]);
  });

  it('keeps its session while the queue is only busy', async () => {
    const send = sender();
    await send(ROLE);
    queues.misbehave('sqs', {
      kind: 'refuse',
      refusal: { status: 400, name: 'ThrottlingException', message: 'Slower.' },
    });
    expect(errorOf(await send(ROLE))).toBe('ThrottlingException: Slower.');
    await send(ROLE);
    expect(queues.calls.sts).toBe(1);
  });

  it('with another external id is refused until it is changed', async () => {
    const send = sender();
    const wrong = { ...ROLE, externalId: 'lw-ffffffffffffffffffffffffffffffff' };
    const result = await send(wrong);
    expect(result).toMatchObject({ terminalHint: true, isSenderFault: false });
    expect(errorOf(result, wrong.externalId)).toMatch(/^AccessDenied: .*sts:AssumeRole with ExternalId \*\*\*$/);
    expect(queues.calls).toMatchObject({ sqs: 0, sts: 1 });
    expect(await send(ROLE)).toMatchObject({ kind: 'accepted' });
  });

  it('without an external id is assumed without one', async () => {
    await sender()({ ...ROLE, externalId: null });
    expect(queues.sessionRequests[0]?.has('ExternalId')).toBe(false);
  });

  it('whose service does not answer ends the attempt at the deadline', async () => {
    queues.misbehave('sts', { kind: 'hang' });
    const tookMs = startStopwatch();
    const result = await sender({ limits: { deadlineMs: 200 } })(ROLE);
    expect(tookMs()).toBeLessThan(5_000);
    expect(errorOf(result)).toBe('timeout');
  });

  it('is requested once in an attempt, with any outcome', async () => {
    queues.misbehave('sts', { kind: 'refuse', refusal: { status: 400, name: 'Throttling', message: 'Rate exceeded' } });
    const send = sender();
    expect(errorOf(await send(ROLE))).toBe('Throttling: Rate exceeded');
    expect(queues.calls).toMatchObject({ sqs: 0, sts: 1 });
    expect(await send(ROLE)).toMatchObject({ kind: 'accepted' });
  });
});

describe('a key pair', () => {
  it('whose secret is wrong is refused without repeating the request', async () => {
    const secretAccessKey = 'wrong/Secret+0123456789abcdefghijklmnopq';
    const result = await sender()({ mode: 'static', accessKeyId: KEYS.accessKeyId, secretAccessKey });
    expect(result).toMatchObject({ terminalHint: true });
    expect(errorOf(result, secretAccessKey)).toBe(
      'SignatureDoesNotMatch: The request signature we calculated does not match the signature you provided.',
    );
  });

  it('that is unknown is refused', async () => {
    const result = await sender()({ mode: 'static', accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'short' });
    expect(result).toMatchObject({ terminalHint: true });
    expect(errorOf(result)).toMatch(/^InvalidClientTokenId: /);
  });

  it('belongs to its own destination, even when few clients are cached', async () => {
    const send = sender({ limits: { clientsMax: 1 } });
    const wrong = { mode: 'static', accessKeyId: KEYS.accessKeyId, secretAccessKey: 'wrong' } as const;
    const right = { mode: 'static', ...KEYS } as const;
    const results = await Promise.all([right, wrong, ROLE, right, wrong, ROLE].map(send));
    expect(results.map(({ kind }) => kind)).toEqual([
      'accepted',
      'refused',
      'accepted',
      'accepted',
      'refused',
      'accepted',
    ]);
  });
});

describe('the credentials of the process', () => {
  it.each<SqsCredentials>([{ mode: 'ambient' }, { ...ROLE, base: null }])(
    'are not used for $mode unless the operator allows it at that moment',
    async (credentials) => {
      let isAllowed = true;
      const send = sender({ isAmbientAllowed: () => isAllowed });
      process.env.AWS_ACCESS_KEY_ID = KEYS.accessKeyId;
      process.env.AWS_SECRET_ACCESS_KEY = KEYS.secretAccessKey;
      try {
        expect(await send(credentials)).toMatchObject({ kind: 'accepted' });
        isAllowed = false;
        const calls = { ...queues.calls };
        const result = await send(credentials);
        expect(result).toMatchObject({ terminalHint: true, isSenderFault: false });
        expect(errorOf(result)).toMatch(/^AmbientCredentialsRefused: /);
        expect(queues.calls).toEqual(calls);
      } finally {
        delete process.env.AWS_ACCESS_KEY_ID;
        delete process.env.AWS_SECRET_ACCESS_KEY;
      }
    },
  );
});
