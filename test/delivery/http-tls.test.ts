import { readFileSync } from 'node:fs';
import type { createServer as createPlain } from 'node:net';
import { createSecureContext, createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestSender, OK, readRequest, startRawReceiver } from '../support/http-sending.ts';
import { until } from '../support/port.ts';

const file = (name: string) => readFileSync(new URL(`../support/tls/${name}`, import.meta.url), 'utf8');
const CERT = file('localhost.crt');
const KEY = file('localhost.key');
/** Trusts the certificates of the receivers in these tests. */
const TRUSTING = createSecureContext({ ca: CERT });
const ALLOWED = '127.0.0.1,localhost,other.example';

type Seen = { readonly names: (string | false)[]; readonly protocols: (string | false | null)[]; body: string };

async function startTlsReceiver(options: TlsOptions = {}, answer = OK) {
  const seen: Seen = { names: [], protocols: [], body: '' };
  const sockets = new Set<TLSSocket>();
  const server = createServer({ cert: CERT, key: KEY, ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket) => {
    sockets.add(socket);
    seen.names.push(socket.servername ?? false);
    seen.protocols.push(socket.alpnProtocol);
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const request = readRequest(received);
      if (!request) return;
      seen.body = request.body.toString();
      received = Buffer.alloc(0);
      socket.write(answer);
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: portOf(server.address()), seen };
}

function portOf(address: ReturnType<ReturnType<typeof createPlain>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return address.port;
}

function createTlsSender(options: Parameters<typeof createTestSender>[0] = {}) {
  return createTestSender({
    allowed: ALLOWED,
    resolve: async () => ['127.0.0.1'],
    secureContext: TRUSTING,
    limits: { deadlineMs: 2_000 },
    ...options,
  });
}

describe('a receiver with TLS', () => {
  it('gets the request under its name, and again over the same connection', async () => {
    const { port, seen } = await startTlsReceiver();
    const sender = createTlsSender();
    const body = Buffer.from(JSON.stringify({ text: 'a'.repeat(300_000) }));
    for (let count = 0; count < 2; count += 1) {
      expect(await sender.attempt(`https://localhost:${port}/hook`, { body })).toMatchObject({
        kind: 'accepted',
        responseText: 'ok',
      });
    }
    expect(seen.body).toBe(body.toString());
    expect(seen).toMatchObject({ names: ['localhost'], protocols: ['http/1.1'] });
    expect(sender.connects.map(({ host }) => host)).toEqual(['127.0.0.1']);
  });

  it('may be named by its address', async () => {
    const { port, seen } = await startTlsReceiver();
    expect(await createTlsSender().attempt(`https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'accepted' });
    expect(seen.names).toEqual([false]);
  });

  it('that holds on after its verdict is cut off with it', async () => {
    const { port } = await startTlsReceiver({}, 'HTTP/1.1 200 OK\r\n\r\n');
    const sender = createTlsSender({ limits: { deadlineMs: 60_000 } });
    expect(await sender.attempt(`https://localhost:${port}/`)).toMatchObject({ kind: 'accepted' });
    expect(sender.sockets.map((socket) => socket.destroyed)).toEqual([true]);
    await until(() => sender.openSockets().inUse === 0, 'none is counted any more');
  });

  it('whose certificate is not trusted gets no request', async () => {
    const { port, seen } = await startTlsReceiver();
    const sender = createTlsSender({ secureContext: createSecureContext() });
    expect(await sender.attempt(`https://localhost:${port}/`)).toMatchObject({
      kind: 'refused',
      error: 'tls_failed: DEPTH_ZERO_SELF_SIGNED_CERT',
      terminalHint: true,
      isSenderFault: false,
      responseStatus: null,
    });
    expect(seen.body).toBe('');
    await until(() => sender.sockets.every((socket) => socket.destroyed), 'the connection is closed');
  });

  it('whose certificate is for another name gets no request', async () => {
    const { port, seen } = await startTlsReceiver();
    expect(await createTlsSender().attempt(`https://other.example:${port}/`)).toMatchObject({
      error: 'tls_failed: ERR_TLS_CERT_ALTNAME_INVALID',
      terminalHint: true,
    });
    expect(seen.body).toBe('');
  });

  it('that requires a client certificate is distinguished from one with a bad certificate', async () => {
    const { port } = await startTlsReceiver({ requestCert: true, rejectUnauthorized: true });
    expect(await createTlsSender().attempt(`https://localhost:${port}/`)).toMatchObject({
      error: expect.stringMatching(/^(tls_failed: ERR_SSL_[A-Z0-9_]+|connection_reset)$/),
      terminalHint: false,
    });
  });

  it('that speaks no TLS after all fails with a code of TLS', async () => {
    const plain = await startRawReceiver((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await createTlsSender().attempt(`https://localhost:${plain.port}/`)).toMatchObject({
      error: expect.stringMatching(/^tls_failed: (ERR_SSL_[A-Z0-9_]+|EPROTO)$/),
      terminalHint: false,
    });
  });

  it('that never finishes the handshake ends at the deadline', async () => {
    const plain = await startRawReceiver(() => {});
    const sender = createTlsSender({ limits: { deadlineMs: 200 } });
    const result = await sender.attempt(`https://localhost:${plain.port}/`);
    expect(result).toMatchObject({ error: 'timeout' });
    expect(result.tookMs).toBeLessThan(5_000);
    await until(() => sender.sockets.every((socket) => socket.destroyed), 'the connection is closed');
  });

  it('that resets inside the handshake is a lost connection', async () => {
    const plain = await startRawReceiver((socket) => socket.resetAndDestroy());
    expect(await createTlsSender().attempt(`https://localhost:${plain.port}/`)).toMatchObject({
      error: 'connection_reset',
      terminalHint: false,
    });
  });
});
