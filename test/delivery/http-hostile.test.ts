import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createTestSender, readRequest, startRawReceiver } from '../support/http-sending.ts';
import { until } from '../support/port.ts';

const DEADLINE_MS = 400;
/** For what the receiver ends: a busy machine may take long for it. */
const LONG_DEADLINE_MS = 10_000;
/** What a busy machine may add. */
const SLACK_MS = 5_000;
const READ_MAX_BYTES = 65_536;
const HEAD_MAX_BYTES = 16_384;
const HEAD_OK = 'HTTP/1.1 200 OK\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const ZEROS = Buffer.alloc(1_000_000);

type Expected = { readonly error?: string | RegExp; readonly status?: number };
type Attack = {
  readonly onConnect?: (socket: Socket) => void;
  /** Once the whole request is in. */
  readonly onRequest?: (socket: Socket) => void;
  /** With the first bytes of it. */
  readonly onBytes?: (socket: Socket) => void;
  readonly expected: Expected;
  readonly bodyBytes?: number;
};

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 20);
  socket.on('close', () => clearInterval(timer));
}

function pour(socket: Socket, bytes: Buffer | string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

const ATTACKS: { readonly [name: string]: Attack } = {
  'never answers': { expected: { error: 'timeout' } },
  'never reads': { onConnect: (socket) => socket.pause(), expected: { error: 'timeout' }, bodyBytes: 20_000_000 },
  'drips its header block': { onRequest: (socket) => drip(socket, 'HTTP/1.1 200 OK'), expected: { error: 'timeout' } },
  'drips headers': {
    onRequest: (socket) => {
      socket.write(HEAD_OK);
      drip(socket, 'X-A: b\r\n');
    },
    expected: { error: 'timeout' },
  },
  'drips the body of a success': {
    onRequest: (socket) => {
      socket.write(`${HEAD_OK}Content-Length: 9999\r\n\r\n`);
      drip(socket, 'a');
    },
    expected: { status: 200 },
  },
  'drips the body of a failure': {
    onRequest: (socket) => {
      socket.write('HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n');
      drip(socket, '1\r\na\r\n');
    },
    expected: { status: 500 },
  },
  'never ends its body': {
    onRequest: (socket) => {
      socket.write(`${HEAD_OK}\r\n`);
      pour(socket, ZEROS);
    },
    expected: { status: 200 },
  },
  'never ends the chunks of a failure': {
    onRequest: (socket) => {
      socket.write('HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n');
      pour(socket, '5\r\naaaaa\r\n'.repeat(10_000));
    },
    expected: { status: 503 },
  },
  'never ends a chunk extension': {
    onRequest: (socket) => {
      socket.write(`${HEAD_OK}Transfer-Encoding: chunked\r\n\r\n5;`);
      pour(socket, 'a'.repeat(9_000));
    },
    expected: { status: 200 },
  },
  'never ends its trailers': {
    onRequest: (socket) => {
      socket.write(`${HEAD_OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`);
      pour(socket, 'X-A: b\r\n'.repeat(1_000));
    },
    expected: { status: 200 },
  },
  'announces more than there is': {
    onRequest: (socket) => socket.end(`${HEAD_OK}Content-Length: 999999999999\r\n\r\nok`),
    expected: { status: 200 },
  },
  'sends a bomb': {
    onRequest: (socket) => {
      const bomb = gzipSync(ZEROS);
      socket.write(`${HEAD_OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    },
    expected: { status: 200 },
  },
  'sends 100 KB of headers': {
    onRequest: (socket) => socket.write(`${HEAD_OK}${'X-A: b\r\n'.repeat(12_500)}\r\n`),
    expected: { error: 'bad_response' },
  },
  'sends one header of 100 KB': {
    onRequest: (socket) => socket.write(`${HEAD_OK}X-A: ${'b'.repeat(100_000)}\r\n\r\n`),
    expected: { error: 'bad_response' },
  },
  'floods with interim answers': {
    onRequest: (socket) => pour(socket, CONTINUE.repeat(100)),
    expected: { error: 'bad_response' },
  },
  // Whether that comes before or after the connection was made is up to the network.
  'resets at once': {
    onConnect: (socket) => socket.resetAndDestroy(),
    expected: { error: /^conn(ect_failed|ection_reset)$/ },
  },
  'resets before the body': {
    onBytes: (socket) => socket.resetAndDestroy(),
    expected: { error: 'connection_reset' },
    bodyBytes: 20_000_000,
  },
  'resets after the body': {
    onRequest: (socket) => socket.resetAndDestroy(),
    expected: { error: 'connection_reset' },
  },
  'ends without an answer': { onRequest: (socket) => socket.end(), expected: { error: 'connection_reset' } },
  'ends inside its headers': {
    onRequest: (socket) => socket.end(`${HEAD_OK}Content-Le`),
    expected: { error: 'bad_response' },
  },
  'resets inside its headers': {
    onRequest: (socket) => socket.write(`${HEAD_OK}Content-Le`, () => socket.resetAndDestroy()),
    expected: { error: 'connection_reset' },
  },
  'accepts early and resets': {
    onBytes: (socket) => socket.write(`${HEAD_OK}Content-Length: 2\r\n\r\nok`, () => socket.resetAndDestroy()),
    expected: { status: 200 },
    bodyBytes: 20_000_000,
  },
  'refuses early and never reads on': {
    onBytes: (socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too much\r\nContent-Length: 0\r\n\r\n');
    },
    expected: { status: 413 },
    bodyBytes: 20_000_000,
  },
  'speaks before it is asked': {
    onConnect: (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'),
    expected: { error: 'bad_response' },
  },
  'speaks another protocol': {
    onRequest: (socket) => socket.write('220 mail.example ESMTP\r\n'),
    expected: { error: 'bad_response' },
  },
  'switches protocols': {
    onRequest: (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n'),
    expected: { status: 101 },
  },
  'has two lengths': {
    onRequest: (socket) => socket.write(`${HEAD_OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`),
    expected: { error: 'bad_response' },
  },
};

describe('a receiver that', () => {
  it.each(Object.keys(ATTACKS))('%s gets no more than its time and its bytes', async (name) => {
    const { onConnect, onRequest, onBytes, expected, bodyBytes = 200 } = ATTACKS[name] as Attack;
    const receiver = await startRawReceiver((socket, received) => {
      onBytes?.(socket);
      if (readRequest(received)) onRequest?.(socket);
    }, onConnect);
    // What ends by itself is not to miss a short deadline on a busy machine.
    const deadlineMs = expected.error === 'timeout' ? DEADLINE_MS : LONG_DEADLINE_MS;
    const sender = createTestSender({ limits: { deadlineMs, connectMs: 200 } });
    const result = await sender.attempt(receiver.url, { body: Buffer.alloc(bodyBytes, 'x') });

    expect(result.responseStatus).toBe(expected.status ?? null);
    if (result.kind === 'refused') {
      expect(result.error).toMatch(expected.error ?? `HTTP ${expected.status}`);
      expect(result.isSenderFault).toBe(false);
    }
    expect(result.kind === 'accepted').toBe(expected.status === 200);
    expect(result.tookMs).toBeLessThan(deadlineMs + SLACK_MS);
    expect(result.latencyMs - result.heldUpMs).toBeLessThan(deadlineMs + SLACK_MS);
    expect(sender.connects).toHaveLength(1);
    const [socket] = sender.sockets;
    await until(() => socket?.destroyed !== false || sender.sockets.length === 0 || isAtRest(socket), 'over');
    expect(socket?.bytesRead ?? 0).toBeLessThanOrEqual(READ_MAX_BYTES + HEAD_MAX_BYTES);
  });

  it('sends its header block byte by byte is understood', async () => {
    const receiver = await startRawReceiver((socket, received) => {
      if (!readRequest(received)) return;
      const answer = Buffer.from(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(3_000)}\r\nContent-Length: 0\r\n\r\n`);
      for (const byte of answer) socket.write(Buffer.of(byte));
    });
    const result = await createTestSender().attempt(receiver.url);
    expect(result).toMatchObject({ kind: 'accepted', responseStatus: 200 });
  });
});

/** The receiver kept to the rules in the end, and the connection waits for the next attempt. */
function isAtRest(socket: Socket | undefined): boolean {
  return socket?.writableLength === 0 && !socket.connecting;
}
