/** Sockets close with the attempt that opened them, except for the few idle ones in the pool. */

import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  answering,
  createTestSender,
  OK,
  readRequest,
  startRawReceiver,
  type TestSender,
} from '../support/http-sending.ts';
import { until } from '../support/port.ts';

const WORKERS = 4;
const ATTEMPTS_EACH = 3;
/** Longer than any attempt at such a receiver may last, so that only a reset can end it. */
const DEADLINE_MS = 60_000;
const SOON_MS = 5_000;
/** Long enough to look at attempts under way on a busy machine. */
const LOOKED_AT_MS = 3_000;

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 20);
  socket.on('close', () => clearInterval(timer));
}

/** Behaviors of a receiver: each decides the verdict and leaves the connection open. */
const HOLDERS: { readonly [name: string]: (socket: Socket) => void } = {
  'a success without an end': (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'),
  'a success that lacks its last byte': (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nalmost '),
  'a success that drips': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    drip(socket, '1\r\na\r\n');
  },
  'a long success without an end': (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(5_000)}`),
  'a long failure without an end': (socket) => socket.write(`HTTP/1.1 500 No\r\n\r\n${'a'.repeat(5_000)}`),
  'a failure without an end': (socket) => socket.write('HTTP/1.1 500 No\r\n\r\nno'),
  'a failure that drips': (socket) => {
    socket.write('HTTP/1.1 404 No\r\nContent-Length: 60000\r\n\r\n');
    drip(socket, 'a');
  },
  'an answer after which it should close': (socket) =>
    socket.write(OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')),
  'an answer with more behind it': (socket) => socket.write(`${OK}HTTP/1.1 200 OK\r\n`),
};

function openOf({ sockets }: TestSender): number {
  return sockets.filter((socket) => !socket.destroyed).length;
}

describe('a receiver that answers with', () => {
  it.each(Object.keys(HOLDERS))('%s holds no socket beyond the attempt', async (name) => {
    const receiver = await startRawReceiver((socket, received) => {
      if (readRequest(received)) HOLDERS[name]?.(socket);
    });
    const sender = createTestSender({ limits: { deadlineMs: DEADLINE_MS } });
    const openAfterwards: number[] = [];
    const work = async () => {
      for (let count = 0; count < ATTEMPTS_EACH; count += 1) {
        const result = await sender.attempt(receiver.url);
        openAfterwards.push(openOf(sender));
        expect(result).toMatchObject({ responseStatus: expect.any(Number) });
        expect(result.tookMs).toBeLessThan(SOON_MS);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    // An attempt that has just ended has no socket, and every other has at most one.
    expect(Math.max(...openAfterwards)).toBeLessThan(WORKERS);
    expect(openOf(sender)).toBe(0);
    expect(sender.connects).toHaveLength(WORKERS * ATTEMPTS_EACH);
    await until(() => sender.openSockets().inUse === 0, 'none is counted any more');
    expect(sender.openSockets().idle).toBe(0);
  });
});

/**
 * Half open: these receivers do not close when the sender does. Only the operating system knows whether the connection
 * exists.
 */
const STUBBORN = { allowHalfOpen: true };

describe('a receiver that never closes', () => {
  it.each<[string, { readonly scheme?: string; readonly answer?: string; readonly bodyBytes?: number }]>([
    ['a success without an end', { answer: 'HTTP/1.1 200 OK\r\n\r\n' }],
    ['a failure without an end', { answer: 'HTTP/1.1 500 No\r\n\r\nno' }],
    ['no answer at all', {}],
    ['no handshake', { scheme: 'https' }],
    ['an answer before it has read', { answer: OK, bodyBytes: 20_000_000 }],
  ])('loses its end of the connection as well: %s', async (_name, { scheme = 'http', answer, bodyBytes = 100 }) => {
    const taken: Socket[] = [];
    let hasAnswered = false;
    const receiver = await startRawReceiver(
      (socket) => {
        if (hasAnswered) return;
        hasAnswered = true;
        if (answer) socket.write(answer);
        if (bodyBytes > 100) socket.pause();
      },
      (socket) => taken.push(socket),
      STUBBORN,
    );
    const sender = createTestSender({ limits: { deadlineMs: 500 } });
    await sender.attempt(receiver.url.replace('http', scheme), { body: Buffer.alloc(bodyBytes, 'x') });
    expect(openOf(sender)).toBe(0);
    for (const socket of taken) socket.resume();
    await until(() => taken.length === 1 && taken.every((socket) => socket.destroyed), 'the receiver has none either');
  });
});

describe('a receiver that', () => {
  const neverOpens = () => new Socket();

  it.each<[string, { readonly scheme: string; readonly connect?: () => Socket; readonly bodyBytes?: number }]>([
    ['is not there', { scheme: 'http', connect: neverOpens }],
    ['never shakes hands', { scheme: 'https' }],
    ['never answers', { scheme: 'http' }],
    ['never reads', { scheme: 'http', bodyBytes: 20_000_000 }],
  ])('%s has one socket for each attempt, and none afterwards', async (_name, { scheme, connect, bodyBytes }) => {
    const receiver = await startRawReceiver(
      () => {},
      (socket) => bodyBytes && socket.pause(),
    );
    const limits = { deadlineMs: LOOKED_AT_MS, connectMs: LOOKED_AT_MS };
    const sender = createTestSender({ limits, ...(connect ? { connect } : {}) });
    const url = receiver.url.replace('http', scheme);
    const body = Buffer.alloc(bodyBytes ?? 100, 'x');
    const attempts = Array.from({ length: WORKERS }, () => sender.attempt(url, { body }));
    await until(() => sender.openSockets().inUse === WORKERS, 'one for each');
    for (const result of await Promise.all(attempts))
      expect(result).toMatchObject({ kind: 'refused', isSenderFault: false });
    expect(openOf(sender)).toBe(0);
    await until(() => sender.openSockets().inUse === 0, 'none is counted any more');
    expect(sender.connects).toHaveLength(WORKERS);
  });

  it('has many addresses has one socket at a time', async () => {
    const addresses = ['127.0.0.9', '127.0.0.8', '127.0.0.7'];
    const sender = createTestSender({
      resolve: async () => addresses,
      connect: neverOpens,
      limits: { connectMs: 30 },
    });
    const attempt = sender.attempt('https://silent.example/');
    await until(() => {
      expect(openOf(sender)).toBeLessThanOrEqual(1);
      return sender.connects.length === addresses.length;
    }, 'all were tried');
    expect(await attempt).toMatchObject({ error: 'connect_failed' });
    expect(openOf(sender)).toBe(0);
  });

  it('is being resolved slowly has none', async () => {
    const sender = createTestSender({ resolve: () => new Promise(() => {}), limits: { deadlineMs: 100 } });
    const results = await Promise.all(Array.from({ length: WORKERS }, () => sender.attempt('https://slow.example/')));
    expect(results.map((result) => result.kind === 'refused' && result.error)).toEqual(Array(WORKERS).fill('timeout'));
    expect(sender.connects).toEqual([]);
  });
});

describe('connections that wait for the next attempt', () => {
  const urlOf = (port: number, name: string) => `http://${name}.example:${port}/`;

  it('are counted separately, and never exceed the attempts in flight', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({ nowMs: () => 1_000 });
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: WORKERS }, () => sender.attempt(receiver.url)));
      expect(sender.openSockets()).toEqual({ inUse: 0, idle: WORKERS });
    }
    expect(sender.connects).toHaveLength(WORKERS);
    sender.close();
    await until(() => sender.openSockets().idle + sender.openSockets().inUse === 0, 'all are closed');
  });

  it('of a receiver that fills the pool are closed for those of others', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({
      nowMs: () => 1_000,
      resolve: async () => ['127.0.0.1'],
      limits: { totalMax: 8 },
    });
    await Promise.all(Array.from({ length: 8 }, (_, index) => sender.attempt(urlOf(receiver.port, `greedy${index}`))));
    expect(sender.openSockets().idle).toBe(8);
    for (let count = 0; count < 5; count += 1) await sender.attempt(urlOf(receiver.port, 'neighbour'));
    expect(sender.connects).toHaveLength(9);
    expect(sender.openSockets().idle).toBe(8);
  });
});
