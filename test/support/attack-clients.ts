/** Attacking clients over raw sockets and HTTP/2 sessions. */

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
  /** The first 4,096 characters received. */
  text(): string;
  isCut(): boolean;
};

export type HostileOptions = { readonly from?: string; readonly reads?: boolean };

/** Opens a connection and sends `first` at once. */
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
  /** Streams per session. */
  readonly streams: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** False leaves the request body open. */
  readonly ends?: boolean;
  /** The initial window of a stream in bytes. */
  readonly windowBytes?: number;
  readonly from?: string;
};

/** The results of many streams. */
export type Streams = {
  readonly sessions: readonly ClientHttp2Session[];
  readonly streams: readonly ClientHttp2Stream[];
  /** The HTTP status of every answer; gRPC UNAVAILABLE and DEADLINE_EXCEEDED count as 503 and 408. */
  readonly statuses: readonly number[];
};

/** HTTP statuses of UNAVAILABLE and DEADLINE_EXCEEDED. */
const GRPC_REFUSALS: { readonly [status: string]: number } = { 14: 503, 4: 408 };
/** Below this limit Node's client, not the server, would end streams with large bodies. */
const OWN_MEMORY_MAX_MIB = 2_000;

/** Opens many streams that read no answer beyond the window. */
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

/** A gRPC frame; it stays incomplete if `announcedBytes` exceeds the message. */
export function grpcFrame(message: Uint8Array, announcedBytes = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(announcedBytes, 1);
  return Buffer.concat([head, message]);
}
