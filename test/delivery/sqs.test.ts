import { createHmac } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sizeOfMessage } from '../../src/delivery/queue-message.ts';
import { createSqsSender, type QueueDestination, type SqsDeps, type SqsSender } from '../../src/delivery/sqs.ts';
import type { OutgoingMessage } from '../../src/domain/endpoints/destination.ts';
import { TLS } from '../support/port.ts';
import { ACCOUNT, KEYS, type QueueServer, startQueueServer } from '../support/queue-server.ts';
import { until } from '../support/temp.ts';
import { startStopwatch } from '../support/turns.ts';

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const DISPATCH_ID = 'webhookendpoint_0005p2syRelBzOqqEi3ft3bFhpiQC:23135b55785c0090';
const TIMESTAMP = 1_790_000_000;
const NEVER = new AbortController().signal;

let queues: QueueServer;
const senders: SqsSender[] = [];

beforeEach(async () => {
  queues = await startQueueServer();
});

afterEach(async () => {
  for (const sender of senders.splice(0)) sender.close();
  await queues.close();
});

function sender(deps: Partial<SqsDeps> = {}): SqsSender {
  const made = createSqsSender({
    service: { endpoint: queues.origin, region: 'eu-north-1' },
    tokenEndpoint: queues.origin,
    isAmbientAllowed: () => false,
    ...deps,
  });
  senders.push(made);
  return made;
}

const destination = (queueUrl = queues.queueUrl): QueueDestination => ({
  kind: 'sqs',
  queueUrl,
  credentials: { mode: 'static', ...KEYS },
});

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
const signStandard = (body: string) =>
  `v1,${hmac(Buffer.from(SECRET.slice(6), 'base64'), `${DISPATCH_ID}.${TIMESTAMP}.${body}`).digest('base64')}`;
const signLangwatch = (body: string) => `v1=${hmac(SECRET, `${TIMESTAMP}.${body}`).digest('hex')}`;

function message(body: string, changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    dispatchId: DISPATCH_ID,
    attempt: 3,
    timestamp: TIMESTAMP,
    signatures: { standard: signStandard(body), langwatch: `t=${TIMESTAMP},${signLangwatch(body)}` },
    body: Buffer.from(body),
    test: false,
    ...changes,
  };
}

describe('a batch for a queue', () => {
  it('arrives byte for byte, with the headers of a delivery as attributes and valid signatures', async () => {
    const body = '{"batch":[{"note":"café \\"quoted\\" ✓ \u{1F600} \\u0000","cost":1.10,"big":9007199254740993}]}';
    const result = await sender().send(destination(), message(body), NEVER);
    const [taken] = queues.accepted;
    expect(result).toEqual({
      kind: 'accepted',
      latencyMs: expect.any(Number),
      responseStatus: null,
      responseText: taken?.id,
    });
    expect(taken?.body).toBe(body);
    expect(taken?.queueUrl).toBe(queues.queueUrl);
    expect(taken?.region).toBe('eu-north-1');
    expect(taken?.attributes).toEqual(
      Object.fromEntries(
        Object.entries({
          'webhook-id': DISPATCH_ID,
          'webhook-timestamp': '1790000000',
          'webhook-signature': signStandard(taken?.body ?? ''),
          'X-LangWatch-Delivery-Id': DISPATCH_ID,
          'X-LangWatch-Delivery-Attempt': '3',
          'X-LangWatch-Signature': `t=1790000000,${signLangwatch(taken?.body ?? '')}`,
        }).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
      ),
    );
    expect(queues.calls).toEqual({ sqs: 1, sts: 0, other: 0 });
  });

  it('says that it is a test', async () => {
    await sender().send(destination(), message('{"batch":[]}', { test: true }), NEVER);
    expect(queues.accepted[0]?.attributes['X-LangWatch-Test-Fire']?.StringValue).toBe('true');
  });

  it('of exactly 262144 reckoned bytes is taken, and of one byte more never sent nor held against the queue', async () => {
    const emptyBytes = sizeOfMessage({ dispatchId: DISPATCH_ID, bodyBytes: 0, test: false });
    const overlap = (body: string) => ({
      attempt: 11,
      signatures: {
        standard: `${signStandard(body)} ${signStandard(body)}`,
        langwatch: `t=${TIMESTAMP},${signLangwatch(body)},${signLangwatch(body)}`,
      },
    });
    const fitting = 'a'.repeat(262_144 - emptyBytes);
    const sqs = sender();
    expect(await sqs.send(destination(), message(fitting, overlap(fitting)), NEVER)).toMatchObject({
      kind: 'accepted',
    });
    const larger = `${fitting}a`;
    expect(await sqs.send(destination(), message(larger, overlap(larger)), NEVER)).toMatchObject({
      kind: 'refused',
      error: 'message too large: 262145 bytes exceed 262144',
      isSenderFault: true,
      isTooLarge: true,
    });
    expect(queues.accepted).toHaveLength(1);
  });

  it("goes to the operator's service and is signed for the region of an Amazon queue", async () => {
    const amazon = destination(`https://sqs-fips.us-west-2.amazonaws.com/${ACCOUNT}/events`);
    expect(await sender().send(amazon, message('{}'), NEVER)).toMatchObject({ kind: 'accepted' });
    expect(queues.accepted[0]).toMatchObject({ queueUrl: amazon.queueUrl, region: 'us-west-2' });
  });

  it('is not sent to an address that is not, or no longer, allowed', async () => {
    const sqs = sender({ service: { endpoint: null, region: 'eu-north-1' } });
    expect(await sqs.send(destination(), message('{}'), NEVER)).toMatchObject({
      error: expect.stringContaining('InvalidAddress: '),
      terminalHint: true,
      isSenderFault: false,
    });
    expect(queues.calls.sqs).toBe(0);
  });
});

describe('a queue that refuses', () => {
  it.each([
    ['ThrottlingException', 400, 'RequestThrottled', false],
    ['OverLimit', 403, 'OverLimit', false],
    ['InternalFailure', 500, undefined, false],
    ['ServiceUnavailable', 503, undefined, false],
    ['ExpiredTokenException', 403, undefined, false],
    ['QueueDoesNotExist', 400, 'AWS.SimpleQueueService.NonExistentQueue', true],
    ['AccessDenied', 403, undefined, true],
    ['AccessDeniedException', 400, 'AccessDenied', true],
    ['AuthorizationError', 403, undefined, true],
    ['InvalidClientTokenId', 403, undefined, true],
    ['UnrecognizedClientException', 400, undefined, true],
    ['SignatureDoesNotMatch', 403, undefined, true],
    ['InvalidAddress', 400, 'InvalidAddress', true],
    ['InvalidParameterValue', 400, undefined, true],
    ['MissingParameter', 400, undefined, true],
    ['UnsupportedOperation', 400, 'AWS.SimpleQueueService.UnsupportedOperation', true],
    ['InvalidSecurity', 403, 'InvalidSecurity', true],
    ['KmsAccessDenied', 400, 'KMS.AccessDeniedException', true],
    ['KmsNotFound', 400, 'KMS.NotFoundException', true],
    ['KmsDisabled', 400, 'KMS.DisabledException', true],
    ['KmsInvalidState', 400, 'KMS.InvalidStateException', true],
    ['KmsThrottled', 400, 'KMS.ThrottlingException', false],
  ])('%s with status %d is requested once', async (name, status, queryName, terminalHint) => {
    const refusal = {
      status,
      name,
      message: 'ShownReasons by the queue.',
      ...(queryName === undefined ? {} : { queryName }),
    };
    queues.misbehave('sqs', { kind: 'refuse', refusal });
    const result = await sender().send(destination(), message('{}'), NEVER);
    expect(result).toEqual({
      kind: 'refused',
      latencyMs: expect.any(Number),
      responseStatus: null,
      error: expect.stringMatching(/^[A-Za-z.]+: ShownReasons by the queue\.$/),
      terminalHint,
      responseText: null,
      retryAfterMs: null,
      isGone: false,
      isSenderFault: false,
    });
    const names = [name, queryName].map((each) => each?.replace('AWS.SimpleQueueService.', ''));
    expect(names).toContain(result.kind === 'refused' ? result.error.split(':')[0] : '');
    expect(queues.calls.sqs).toBe(1);
  });

  it('is quoted with 500 characters at most', async () => {
    queues.misbehave('sqs', {
      kind: 'refuse',
      refusal: { status: 400, name: 'InvalidMessageContents', message: 'no '.repeat(400) },
    });
    const result = await sender().send(destination(), message('{}'), NEVER);
    expect(result).toMatchObject({ error: `InvalidMessageContents: ${'no '.repeat(400)}`.slice(0, 500) });
  });

  it('is not quoted with addresses, keys or the request as it was signed', async () => {
    const said = `Go to https://10.0.0.1/x with AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMIK7MDENG/bPxRfiCYEXAMPLEKEYab, Credential=a/b/c now.\nx-amz-security-token: word`;
    queues.misbehave('sqs', { kind: 'refuse', refusal: { status: 400, name: 'Odd', message: said } });
    const result = await sender().send(destination(), message('{}'), NEVER);
    expect(result).toMatchObject({ error: 'Odd: Go to *** with *** and ***, *** now.' });
  });
});

describe('a queue that does not answer', () => {
  const limits = { deadlineMs: 200 };

  it.each(['hang', 'drip'] as const)('as it should (%s) ends the attempt at the deadline', async (kind) => {
    queues.misbehave('sqs', { kind });
    const tookMs = startStopwatch();
    const hasty = sender({ limits });
    const result = await hasty.send(destination(), message('{}'), NEVER);
    expect(tookMs()).toBeLessThan(5_000);
    expect(result).toMatchObject({ kind: 'refused', error: 'timeout', terminalHint: false, isSenderFault: false });
    await until(() => hasty.openSockets().inUse + hasty.openSockets().idle === 0);
  });

  it.each([
    ['reset', 'connection_reset'],
    ['garbage', 'bad_response'],
  ] as const)('but breaks off (%s) is named for it', async (kind, error) => {
    queues.misbehave('sqs', { kind });
    const result = await sender().send(destination(), message('{}'), NEVER);
    expect(result).toMatchObject({ kind: 'refused', error, terminalHint: false, isSenderFault: false });
    expect(queues.calls.sqs).toBe(1);
  });

  it('without a valid region is refused permanently and sent nowhere', async () => {
    const queueUrl = `https://sqs.s3.amazonaws.com/${ACCOUNT}/events`;
    const result = await sender().send(destination(queueUrl), message('{}'), NEVER);
    expect(result).toMatchObject({ error: expect.stringMatching(/^InvalidAddress: /), terminalHint: true });
    expect(queues.calls.sqs).toBe(0);
  });

  it('because nothing listens is reported as such', async () => {
    const endpoint = queues.origin;
    await queues.close();
    const result = await sender({ service: { endpoint, region: 'eu-north-1' } }).send(
      destination(`${endpoint}/${ACCOUNT}/events`),
      message('{}'),
      NEVER,
    );
    expect(result).toMatchObject({ error: 'connect_failed', isSenderFault: false });
  });

  it('because its name is unknown is named for it', async () => {
    const endpoint = 'http://queues.invalid';
    const result = await sender({ service: { endpoint, region: 'eu-north-1' } }).send(
      destination(`${endpoint}/${ACCOUNT}/events`),
      message('{}'),
      NEVER,
    );
    expect(result).toMatchObject({ error: 'dns_failed', isSenderFault: false });
  });

  it('with a certificate that can be trusted is named for it', async () => {
    const impostor = createServer(TLS, (_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    const endpoint = `https://127.0.0.1:${(impostor.address() as AddressInfo).port}`;
    const result = await sender({ service: { endpoint, region: 'eu-north-1' } }).send(
      destination(`${endpoint}/${ACCOUNT}/events`),
      message('{}'),
      NEVER,
    );
    expect(result).toMatchObject({ error: expect.stringMatching(/^tls_failed: [A-Z_]+$/), terminalHint: true });
    await new Promise((resolve) => impostor.close(resolve));
  });
});

describe('a process that stops', () => {
  it('ends its attempts at once, as sender faults', async () => {
    queues.misbehave('sqs', { kind: 'hang' });
    const stopping = new AbortController();
    const sent = sender().send(destination(), message('{}'), stopping.signal);
    stopping.abort();
    expect(await sent).toMatchObject({ error: 'sender_lost', isSenderFault: true, terminalHint: false });
    expect(await sender().send(destination(), message('{}'), stopping.signal)).toMatchObject({ isSenderFault: true });
  });
});
