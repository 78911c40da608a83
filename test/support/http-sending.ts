/** A webhook sender for tests, and receivers that answer with arbitrary bytes. */

import {
  createServer,
  connect as realConnect,
  type Server,
  type ServerOpts,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttpSender, type HttpSender, type HttpSenderDeps } from '../../src/delivery/http.ts';
import type { AttemptResult, OutgoingMessage } from '../../src/domain/endpoints/destination.ts';
import { parseAllowList } from '../../src/domain/endpoints/url-allow-list.ts';
import { createUrlPolicy, type UrlPolicy } from '../../src/domain/endpoints/url-policy.ts';
import { openWebhookSecret, signMessage } from '../../src/domain/endpoints/webhook-signature.ts';
import { startStopwatch } from './turns.ts';

export const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
export const NEVER = new AbortController().signal;
export const NOW = Date.UTC(2026, 6, 27, 14, 3, 11);

export function policyWith(allowed: string): UrlPolicy {
  const reading = parseAllowList(allowed);
  if (reading.kind === 'problem') throw new Error(reading.problem);
  return createUrlPolicy(reading.entries);
}

export type TestSender = HttpSender & {
  /** The options of the opened connections. */
  readonly connects: TcpNetConnectOpts[];
  readonly sockets: Socket[];
  /** Runs one attempt; measures its duration without waits for a processor, and these waits. */
  readonly attempt: (
    url: string,
    changes?: Partial<OutgoingMessage>,
  ) => Promise<AttemptResult & { tookMs: number; heldUpMs: number }>;
};

export type TestSenderOptions = Partial<HttpSenderDeps> & { readonly allowed?: string };

/** Allows only loopback addresses by default. Closes the sender after the test. */
export function createTestSender({ allowed = '127.0.0.0/8', ...deps }: TestSenderOptions = {}): TestSender {
  const connects: TcpNetConnectOpts[] = [];
  const sockets: Socket[] = [];
  const connect = deps.connect ?? realConnect;
  const sender = createHttpSender({
    policy: policyWith(allowed),
    resolve: () => Promise.reject(new Error('nothing is looked up here')),
    nowMs: () => performance.now(),
    clock: () => NOW,
    userAgentVersion: '1.2.3',
    ...deps,
    connect(options) {
      connects.push(options);
      const socket = connect(options);
      sockets.push(socket);
      return socket;
    },
  });
  onTestFinished(() => sender.close());
  return {
    ...sender,
    connects,
    sockets,
    async attempt(url, changes) {
      // Signs before the measurement: that is slow for bodies of many megabytes.
      const message = messageOf(changes);
      const startedMs = performance.now();
      const stopwatch = startStopwatch();
      const result = await sender.send(url, message, NEVER);
      const tookMs = stopwatch();
      return { ...result, tookMs, heldUpMs: performance.now() - startedMs - tookMs };
    },
  };
}

/** A message signed with SECRET. */
export function messageOf(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const body = changes.body ?? Buffer.from('{"batch":[{"id":"req_1:completed"}]}');
  const dispatchId = changes.dispatchId ?? 'webhookendpoint_X:23135b55785c0090';
  const timestamp = changes.timestamp ?? Math.floor(Date.now() / 1_000);
  return {
    dispatchId,
    attempt: 1,
    timestamp,
    signatures: signMessage({ secrets: [openWebhookSecret(SECRET)], dispatchId, timestamp, body }),
    body,
    test: false,
    ...changes,
  };
}

export type RawReceiver = {
  readonly port: number;
  readonly url: string;
  /** All bytes so far per connection, in order of arrival. */
  readonly received: Buffer[];
  readonly server: Server;
};

/** Calls `serve` for every chunk, with all bytes of the connection so far. */
export async function startRawReceiver(
  serve: (socket: Socket, received: Buffer) => void,
  onConnect: (socket: Socket) => void = () => {},
  options: ServerOpts = {},
): Promise<RawReceiver> {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, ...options }, (socket) => {
    const index = received.push(Buffer.alloc(0)) - 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    onConnect(socket);
    socket.on('data', (bytes) => {
      const all = Buffer.concat([received[index] ?? Buffer.alloc(0), bytes]);
      received[index] = all;
      serve(socket, all);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return { port: address.port, url: `http://127.0.0.1:${address.port}/hook`, received, server };
}

/** The head and body of one complete request; null while it is incomplete. */
export function readRequest(received: Buffer): { head: string; headers: Map<string, string>; body: Buffer } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  const headers = new Map(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = received.subarray(end + 4);
  return body.length < Number(headers.get('content-length')) ? null : { head, headers, body };
}

/** Answers every complete request with these bytes. */
export function answering(answer: string): (socket: Socket, received: Buffer) => void {
  let answered = 0;
  return (socket, received) => {
    let requests = 0;
    for (let rest = received, request = readRequest(rest); request; request = readRequest(rest)) {
      requests += 1;
      const whole = request.head.length + 4 + Number(request.headers.get('content-length'));
      rest = rest.subarray(whole);
    }
    if (requests > 0 && requests > countOf(socket)) {
      counts.set(socket, requests);
      answered += 1;
      socket.write(answer.replace('{n}', String(answered)), 'latin1');
    }
  };
}

const counts = new WeakMap<Socket, number>();

function countOf(socket: Socket): number {
  return counts.get(socket) ?? 0;
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
