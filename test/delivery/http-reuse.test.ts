import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answering, createTestSender, OK, readRequest, startRawReceiver } from '../support/http-sending.ts';
import { until } from '../support/port.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nX-T: 1\r\n\r\n';

/** Sends twice; returns how many connections that took. */
async function connectionsFor(answer: string, idleMs = 0): Promise<number> {
  const receiver = await startRawReceiver(answering(answer));
  const time = { nowMs: 1_000 };
  const sender = createTestSender({ nowMs: () => time.nowMs });
  expect(await sender.attempt(receiver.url)).toMatchObject({ responseStatus: expect.any(Number) });
  time.nowMs += idleMs;
  expect(await sender.attempt(receiver.url)).toMatchObject({ responseStatus: expect.any(Number) });
  return sender.connects.length;
}

/** Answers the first request of every connection, and does something else with the next. */
async function startForgetful(onNext: (socket: Socket) => void) {
  /** The requests of connections, numbered within each. */
  const requests: number[] = [];
  const answered = new WeakSet<Socket>();
  const receiver = await startRawReceiver((socket, received) => {
    if (answered.has(socket)) {
      requests.push(2);
      onNext(socket);
    } else if (readRequest(received)) {
      requests.push(1);
      answered.add(socket);
      socket.write(OK);
    }
  });
  return { receiver, requests };
}

describe('a connection', () => {
  it.each([
    ['with a length', OK],
    ['in chunks', CHUNKED],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['that failed', 'HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno'],
    ['that was announced', `HTTP/1.1 100 Continue\r\n\r\n${OK}`],
    ['of an old server that keeps it', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n'],
    ['that is kept long', `${OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=5, max=9\r\n\r\n')}`],
  ])('is used again after an answer %s', async (_name, answer) => {
    expect(await connectionsFor(answer, 2_000)).toBe(1);
  });

  it.each([
    ['that says so', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
    ['of an old server', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['with more behind it', `${OK}${OK}`],
    ['that ends in two ways', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['with broken chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n'],
    ['that is too long', `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'a'.repeat(100_000)}`],
  ])('is not used again after an answer %s', async (_name, answer) => {
    expect(await connectionsFor(answer)).toBe(2);
  });

  it('is not used again after two idle seconds, or when the receiver may be about to close it', async () => {
    expect(await connectionsFor(OK, 2_001)).toBe(2);
    const short = OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=1\r\n\r\n');
    expect(await connectionsFor(short, 500)).toBe(1);
    expect(await connectionsFor(short, 501)).toBe(2);
  });

  it('that the receiver closed while it was idle fails no attempt', async () => {
    const receiver = await startRawReceiver((socket, received) => {
      if (readRequest(received)) socket.write(OK, () => socket.end());
    });
    const sender = createTestSender();
    for (let count = 1; count <= 3; count += 1) {
      expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
      await until(() => sender.sockets.every((socket) => socket.destroyed), 'the end was seen');
    }
  });

  it.each([
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['ends', (socket: Socket) => socket.end()],
  ])('that the receiver %s under the next request is replaced at once', async (_name, close) => {
    const { receiver, requests } = await startForgetful(close);
    const sender = createTestSender();
    for (let count = 0; count < 2; count += 1) {
      expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    }
    expect(requests).toEqual([1, 2, 1]);
  });

  it('of many that were closed together is replaced by a new one', async () => {
    const { receiver } = await startForgetful((socket) => socket.resetAndDestroy());
    const sender = createTestSender({ nowMs: () => 1_000 });
    await Promise.all(Array.from({ length: 4 }, () => sender.attempt(receiver.url)));
    expect(sender.openSockets().idle).toBe(4);
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    expect(sender.connects).toHaveLength(5);
  });

  it('that is new, or replaced one, fails the attempt when it is lost', async () => {
    let isDown = false;
    const receiver = await startRawReceiver((socket, received) => {
      if (isDown) socket.resetAndDestroy();
      else if (readRequest(received)) socket.write(OK);
    });
    const sender = createTestSender();
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    isDown = true;
    const lost = { error: 'connection_reset', isSenderFault: false };
    expect(await sender.attempt(receiver.url)).toMatchObject(lost);
    expect(sender.connects).toHaveLength(2);
    expect(await sender.attempt(receiver.url)).toMatchObject(lost);
    expect(sender.connects).toHaveLength(3);
  });

  it('is not replaced for a retry, because a batch is sent twice only once', async () => {
    const { receiver } = await startForgetful((socket) => socket.resetAndDestroy());
    const sender = createTestSender();
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    expect(await sender.attempt(receiver.url, { attempt: 2 })).toMatchObject({ error: 'connection_reset' });
    expect(sender.connects).toHaveLength(1);
  });

  it.each([
    ['a byte of the answer', 'H', 'bad_response'],
    ['an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n', 'connection_reset'],
  ])('is not replaced after %s', async (_name, begun, error) => {
    const { receiver } = await startForgetful((socket) => socket.end(begun));
    const sender = createTestSender();
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    expect(await sender.attempt(receiver.url)).toMatchObject({ error });
    expect(sender.connects).toHaveLength(1);
  });

  it('is not replaced when the receiver is silent until the deadline', async () => {
    const { receiver } = await startForgetful(() => {});
    const sender = createTestSender({ limits: { deadlineMs: 2_000 } });
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    expect(await sender.attempt(receiver.url)).toMatchObject({ error: 'timeout' });
    expect(sender.connects).toHaveLength(1);
  });

  it('serves one scheme, host and port only', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({ allowed: '127.0.0.1', resolve: async () => ['127.0.0.1'] });
    for (const host of ['127.0.0.1', 'a.example', 'b.example', 'a.example']) {
      await sender.attempt(receiver.url.replace('127.0.0.1', host));
    }
    expect(sender.connects).toHaveLength(3);
  });

  it('is kept within bounds, and closed soon after its time', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({ limits: { perTargetMax: 3, idleMaxMs: 50 } });
    await Promise.all(Array.from({ length: 20 }, () => sender.attempt(receiver.url)));
    expect(sender.connects).toHaveLength(20);
    expect(sender.sockets.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(3);
    await until(() => sender.sockets.every((socket) => socket.destroyed), 'all idle connections are closed');
  });
});
