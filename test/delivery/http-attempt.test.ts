import { connect, Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  answering,
  createTestSender,
  messageOf,
  NEVER,
  NOW,
  OK,
  readRequest,
  SECRET,
  startRawReceiver,
} from '../support/http-sending.ts';
import { until } from '../support/port.ts';
import { verifiesLangwatch, verifiesStandard } from '../support/webhook-verifier.ts';

const ID = 'webhookendpoint_X:23135b55785c0090';

async function answerOf(answer: string, changes: Parameters<typeof messageOf>[0] = {}) {
  const receiver = await startRawReceiver(answering(answer));
  return await createTestSender().attempt(receiver.url, changes);
}

const withStatus = (status: number, more = '') => `HTTP/1.1 ${status} X\r\n${more}Content-Length: 4\r\n\r\nwhy?`;

const IPV4 = '93.184.216.34';
const IPV6 = '2606:2800:220:1::1';

describe('the request', () => {
  it('is exactly what the contract says', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const body = Buffer.from('{"batch":[{"id":"é"}]}');
    const message = messageOf({ body, attempt: 3, timestamp: 1_790_000_000 });
    await createTestSender().send(`${receiver.url}/a%20b?x=1&y=ü#fragment`, message, NEVER);
    const request = readRequest(receiver.received[0] ?? Buffer.alloc(0));
    expect(request?.head.split('\r\n').toSorted()).toEqual(
      [
        'POST /hook/a%20b?x=1&y=%C3%BC HTTP/1.1',
        `Host: 127.0.0.1:${receiver.port}`,
        'User-Agent: Spandrel-Webhooks/1.2.3',
        'Accept: */*',
        'Accept-Encoding: identity',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        `webhook-id: ${ID}`,
        'webhook-timestamp: 1790000000',
        `webhook-signature: ${message.signatures.standard}`,
        `X-LangWatch-Signature: ${message.signatures.langwatch}`,
        `X-LangWatch-Delivery-Id: ${ID}`,
        'X-LangWatch-Delivery-Attempt: 3',
      ].toSorted(),
    );
    expect(request?.body).toEqual(body);
  });

  it('says when it is a test', async () => {
    const receiver = await startRawReceiver(answering(OK));
    await createTestSender().attempt(receiver.url, { test: true });
    const headers = readRequest(receiver.received[0] ?? Buffer.alloc(0))?.headers;
    expect(headers?.get('x-langwatch-test-fire')).toBe('true');
  });

  it.each([0, 1, 32_768, 32_769, 3_000_000])('with a body of %d bytes arrives as it was signed', async (size) => {
    const receiver = await startRawReceiver(answering(OK));
    const body = Buffer.from(JSON.stringify({ text: 'é'.repeat(size / 2) }));
    expect(await createTestSender().attempt(receiver.url, { body })).toMatchObject({ kind: 'accepted' });
    const request = readRequest(receiver.received[0] ?? Buffer.alloc(0));
    if (!request) throw new Error('no request came');
    const headers = Object.fromEntries(request.headers);
    expect(request.body.equals(body)).toBe(true);
    expect(new Webhook(SECRET).verify(request.body, headers)).toEqual(JSON.parse(body.toString()));
    const received = { id: ID, timestamp: headers['webhook-timestamp'] ?? '', body: request.body };
    expect(verifiesStandard(SECRET, received, headers['webhook-signature'] ?? '')).toBe(true);
    expect(verifiesLangwatch(SECRET, received, headers['x-langwatch-signature'] ?? '')).toBe(true);
  });
});

describe('the verdict', () => {
  it.each([200, 201, 202, 204, 299])('of %d is success', async (status) => {
    expect(await answerOf(withStatus(status))).toMatchObject({ kind: 'accepted', responseStatus: status });
  });

  it.each([
    [300, true],
    [302, true],
    [304, true],
    [400, true],
    [401, true],
    [404, true],
    [408, false],
    [410, false],
    [422, true],
    [429, false],
    [500, false],
    [503, false],
    [999, false],
  ])('of %d is a failure; it is permanent: %s', async (status, terminalHint) => {
    expect(await answerOf(withStatus(status))).toMatchObject({
      kind: 'refused',
      responseStatus: status,
      error: `HTTP ${status}`,
      terminalHint,
      isGone: status === 410,
      isSenderFault: false,
      retryAfterMs: null,
      responseText: status === 304 ? '' : 'why?',
    });
  });

  it.each([
    [429, '5', 5_000],
    [503, '3600', 3_600_000],
    [503, '3601', 3_600_000],
    [503, '9'.repeat(400), 3_600_000],
    [429, new Date(NOW + 9_000).toUTCString(), 9_000],
    [429, 'Monday, 27-Jul-26 14:03:21 GMT', 10_000],
    [429, 'Mon Jul 27 14:03:21 2026', 10_000],
    [503, new Date(NOW + 9e9).toUTCString(), 3_600_000],
    [503, new Date(NOW - 9_000).toUTCString(), null],
    [503, '0', null],
    [503, '-5', null],
    [503, '+5', null],
    [503, '300.5', 301_000],
    [503, '600, 600', 600_000],
    [503, '5, 10', 10_000],
    [503, 'soon, 5', 5_000],
    [503, '5\r\nretry-after: 9', 9_000],
    [429, new Date(NOW + 9_000).toUTCString().replace('GMT', 'UTC'), 9_000],
    [429, new Date(NOW + 9_000).toUTCString().replace('GMT', '+0000'), 9_000],
    [429, `${new Date(NOW + 9_000).toUTCString()}, 5`, 9_000],
    [429, new Date(NOW + 9_000).toUTCString().replace('GMT', '+0100'), null],
    [503, '.5', null],
    [503, '5.', null],
    [503, '1e3', null],
    [503, ',', null],
    [503, 'soon', null],
    [503, '2026-07-27T15:00:00Z', null],
    [503, '', null],
    [500, '5', null],
    [404, '5', null],
  ])('of %d with Retry-After %j sets a floor of %j ms', async (status, value, retryAfterMs) => {
    expect(await answerOf(withStatus(status, `retry-after: ${value}\r\n`))).toMatchObject({ retryAfterMs });
  });

  it('keeps the first 1000 characters of an answer, readable and without NUL', async () => {
    const text = `${'é'.repeat(999)}\0😀${'x'.repeat(5_000)}`;
    const answer = `HTTP/1.1 500 No\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
    const receiver = await startRawReceiver((socket, received) => {
      if (readRequest(received)) socket.end(Buffer.concat([Buffer.from(answer), Buffer.from(text)]));
    });
    expect(await createTestSender().attempt(receiver.url)).toMatchObject({ responseText: `${'é'.repeat(999)}😀` });
    expect(await answerOf('HTTP/1.1 400 X\r\nContent-Length: 3\r\n\r\na\xffb')).toMatchObject({
      responseText: 'a\ufffdb',
    });
  });

  it('is read after interim responses', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
    expect(await answerOf(`${interim}${OK}`)).toMatchObject({ kind: 'accepted', responseStatus: 200 });
  });

  it('of a success comes before a body that is slow, and of a test with the body', async () => {
    let finishBody = () => {};
    const receiver = await startRawReceiver((socket, received) => {
      if (!readRequest(received)) return;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl');
      finishBody = () => socket.write('ow');
    });
    const sender = createTestSender();
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted', responseText: 'sl' });
    finishBody();
    const test = sender.attempt(receiver.url, { test: true });
    await until(() => receiver.received.length > 1 || (receiver.received[0]?.length ?? 0) > 900, 'asked again');
    await new Promise(setImmediate);
    finishBody();
    expect(await test).toMatchObject({ kind: 'accepted', responseText: 'slow' });
  });
});

describe('an attempt', () => {
  it('fails with dns_failed when the host has no address', async () => {
    const sender = createTestSender();
    expect(await sender.attempt('https://nowhere.example/')).toMatchObject({
      kind: 'refused',
      error: 'dns_failed',
      terminalHint: false,
      isSenderFault: false,
    });
  });

  it('ends at its deadline while the host is being resolved', async () => {
    const sender = createTestSender({ resolve: () => new Promise(() => {}), limits: { deadlineMs: 100 } });
    const result = await sender.attempt('https://slow.example/');
    expect(result).toMatchObject({ error: 'timeout' });
    expect(result.tookMs).toBeLessThan(5_000);
  });

  it('tries up to four addresses in their order, and no further one', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const allowed = '127.0.0.0/8';
    const deaf = ['127.0.0.9', '127.0.0.8', '127.0.0.7', '127.0.0.6'];
    const url = receiver.url.replace('127.0.0.1', 'hooks.example');
    const reached = createTestSender({ allowed, resolve: async () => [...deaf.slice(0, 3), '127.0.0.1'] });
    expect(await reached.attempt(url)).toMatchObject({ kind: 'accepted' });
    expect(reached.connects.map(({ host }) => host)).toEqual([...deaf.slice(0, 3), '127.0.0.1']);
    const unreached = createTestSender({ allowed, resolve: async () => [...deaf, '127.0.0.1'] });
    expect(await unreached.attempt(url)).toMatchObject({ error: 'connect_failed', isSenderFault: false });
    expect(unreached.connects.map(({ host }) => host)).toEqual(deaf);
  });

  it('waits for each silent address only so long, and for all of them until the deadline', async () => {
    const resolve = async () => ['127.0.0.9', '127.0.0.8', '127.0.0.7', '127.0.0.6'];
    const silent = { allowed: '127.0.0.0/8', resolve, connect: () => new Socket() };
    const patient = createTestSender({ ...silent, limits: { connectMs: 20, deadlineMs: 5_000 } });
    expect(await patient.attempt('https://silent.example/')).toMatchObject({
      error: 'connect_failed',
      isSenderFault: false,
    });
    expect(patient.connects).toHaveLength(4);
    const brief = createTestSender({ ...silent, limits: { connectMs: 100, deadlineMs: 150 } });
    expect(await brief.attempt('https://silent.example/')).toMatchObject({ error: 'timeout' });
    // The second is under way, unless this process was held up.
    expect([1, 2]).toContain(brief.connects.length);
    expect([...patient.sockets, ...brief.sockets].every((socket) => socket.destroyed)).toBe(true);
  });

  it('goes through no proxy', async () => {
    const receiver = await startRawReceiver(answering(OK));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:1');
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const sender = createTestSender();
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    expect(sender.connects.map(({ port }) => port)).toEqual([receiver.port]);
  });

  it('that the caller aborts is a sender fault', async () => {
    const receiver = await startRawReceiver(() => {});
    const controller = new AbortController();
    const sender = createTestSender();
    const attempt = sender.send(receiver.url, messageOf(), controller.signal);
    await until(() => (receiver.received[0]?.length ?? 0) > 0, 'the request arrived');
    controller.abort();
    expect(await attempt).toMatchObject({ error: 'sender_lost', isSenderFault: true });
    expect(await sender.send(receiver.url, messageOf(), controller.signal)).toMatchObject({ error: 'sender_lost' });
    expect(sender.connects).toHaveLength(1);
  });

  it('that is in progress at the end of the sender is lost, and none begins after', async () => {
    const receiver = await startRawReceiver(() => {});
    const sender = createTestSender();
    const attempt = sender.attempt(receiver.url);
    await until(() => (receiver.received[0]?.length ?? 0) > 0, 'the request arrived');
    sender.close();
    expect(await attempt).toMatchObject({ error: 'sender_lost', isSenderFault: true });
    expect(await sender.attempt(receiver.url)).toMatchObject({ error: 'sender_lost', isSenderFault: true });
    expect(sender.connects).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['a machine without IPv6 and an address that refuses', { [IPV4]: 'ECONNREFUSED', [IPV6]: 'EADDRNOTAVAIL' }, false],
    ['a machine without IPv6 and an address of only that kind', { [IPV6]: 'EADDRNOTAVAIL' }, false],
    [
      'one address without a port left, and another that refuses',
      { [IPV4]: 'EADDRNOTAVAIL', [IPV6]: 'ECONNREFUSED' },
      false,
    ],
    ['no socket for any address', { [IPV4]: 'EMFILE', [IPV6]: 'EMFILE' }, true],
  ])('tries each address and tells whose fault it is: %s', async (_, codes, isSenderFault) => {
    const sender = createTestSender({
      allowed: `${IPV4},${IPV6}`,
      resolve: async () => Object.keys(codes),
      connect: ({ host }) => failing(codes[host ?? ''] ?? ''),
    });
    expect(await sender.attempt('https://dual.example/')).toMatchObject({ error: 'connect_failed', isSenderFault });
    expect(sender.connects.map(({ host }) => host)).toEqual(Object.keys(codes));
  });

  it('reaches the second address when this machine had no socket for the first', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({
      allowed: '127.0.0.0/8',
      resolve: async () => ['127.0.0.9', '127.0.0.1'],
      connect: (options) => (options.host === '127.0.0.9' ? failing('EADDRNOTAVAIL') : connect(options)),
    });
    const url = receiver.url.replace('127.0.0.1', 'hooks.example');
    expect(await sender.attempt(url)).toMatchObject({ kind: 'accepted' });
  });

  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL'])('that fails with %s is our own fault', async (code) => {
    const sender = createTestSender({ connect: () => failing(code) });
    expect(await sender.attempt('http://127.0.0.1:9/')).toMatchObject({ error: 'connect_failed', isSenderFault: true });
  });
});

/** A socket that cannot connect. */
function failing(code: string): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(Object.assign(new Error('no connection'), { code })));
  return socket;
}
