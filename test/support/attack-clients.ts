/** Clients that mean harm, over bare sockets and bare HTTP/2 sessions. */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect, type Socket } from 'node:net';
import { ATTACKER_HOST, type Attack, type Target } from './attack-target.ts';

export type Hostile = {
  readonly socket: Socket;
  /** What it was told so far, as long as it reads. */
  text(): string;
  isCut(): boolean;
};

export type HostileOptions = { readonly from?: string; readonly reads?: boolean };

/** A connection that says something at once. */
export function openHostile(
  { port }: Target,
  { closeLater }: Attack,
  first: string | Buffer,
  { from = ATTACKER_HOST, reads = true }: HostileOptions = {},
): Hostile {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  let text = '';
  let isCut = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isCut = true;
  });
  socket.on('end', () => {
    isCut = true;
    socket.end();
  });
  if (reads) socket.on('data', (chunk) => (text = (text + chunk.toString('latin1')).slice(0, 4_096)));
  else socket.pause();
  socket.write(first);
  closeLater(() => socket.destroy());
  return { socket, text: () => text, isCut: () => isCut };
}

export function requestHead(target: Target, line: string, headers: { readonly [name: string]: string } = {}): string {
  const named = Object.entries({ host: 'x', 'x-auth-token': target.key, ...headers });
  return `${line} HTTP/1.1\r\n${named.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

export type StreamsWish = {
  readonly sessions: number;
  /** On each of them. */
  readonly streams: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** False: the body goes on for ever, as far as anybody knows. */
  readonly ends?: boolean;
  /** Bytes of an answer that may come before the client has taken any. */
  readonly windowBytes?: number;
  readonly from?: string;
};

/** What became of many streams. */
export type Streams = {
  readonly sessions: readonly ClientHttp2Session[];
  readonly streams: readonly ClientHttp2Stream[];
  /** The HTTP status of each that was answered; 503 and 408 too for a gRPC refusal that says the same. */
  readonly statuses: readonly number[];
};

/** UNAVAILABLE and DEADLINE_EXCEEDED, as HTTP says it. */
const GRPC_REFUSALS: { readonly [status: string]: number } = { 14: 503, 4: 408 };
/** Node would give up the bodies of its own client instead of leaving that to the server. */
const OWN_MEMORY_MAX_MIB = 2_000;

/** Many streams that take nothing of their answers beyond the window. */
export function openStreams({ port, key }: Target, { closeLater }: Attack, wish: StreamsWish): Streams {
  const { ends = true, windowBytes = 0, from = ATTACKER_HOST } = wish;
  const statuses: number[] = [];
  const sessions = Array.from({ length: wish.sessions }, () => {
    const createConnection = () => connect({ port, host: '127.0.0.1', localAddress: from });
    const settings = { initialWindowSize: windowBytes };
    const limits = { maxSessionMemory: OWN_MEMORY_MAX_MIB };
    const session = connectHttp2(`http://127.0.0.1:${port}`, { createConnection, settings, ...limits });
    session.on('error', () => undefined);
    closeLater(() => session.destroy());
    return session;
  });
  const streams = sessions.flatMap((session) =>
    Array.from({ length: wish.streams }, () => {
      const stream = session.request({ 'x-auth-token': key, ...wish.headers }, { endStream: false });
      stream.on('error', () => undefined);
      stream.on('response', (headers) => {
        statuses.push(GRPC_REFUSALS[String(headers['grpc-status'])] ?? Number(headers[':status']));
      });
      if (wish.body !== undefined) stream.write(wish.body);
      if (ends) stream.end();
      return stream;
    }),
  );
  return { sessions, streams, statuses };
}

/** A message as gRPC frames it; announced longer than it is, it never ends. */
export function grpcFrame(message: Uint8Array, announcedBytes = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(announcedBytes, 1);
  return Buffer.concat([head, message]);
}
