/** What the server and its HTTP/1.1 and HTTP/2 halves are given: limits, and the handlers of requests. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FairQueue } from './fair-queue.ts';
import type { Abuse } from './session-abuse.ts';

export type ServerLimits = {
  /** From accepting a connection to its first complete request head. */
  readonly headersTimeoutMs: number;
  /** Between two chunks of a request body, and between two chunks of a response that the client reads. */
  readonly bodyGapTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** The same where a handler waits longer for a body than others; `bodyTimeoutMs` by default. */
  readonly longBodyTimeoutMs?: number;
  /** How long a request of HTTP/2 other than gRPC may go without an answer; four times `bodyTimeoutMs` by default. */
  readonly longAnswerTimeoutMs?: number;
  /** How long a connection may be idle between requests. */
  readonly idleTimeoutMs: number;
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly requestLineBytesMax: number;
  readonly connectionsMax: number;
  /** How long an address is blocked after a session of it was cut for the first time; 0: not at all. */
  readonly reconnectPenaltyMs: number;
};

/** A certificate and its key as PEM texts. */
export type TlsTexts = { readonly cert: string; readonly key: string };

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsTexts | null;
  readonly limits: ServerLimits;
  readonly meter: ConnectionMeter;
  readonly callerOf: CallerOf;
  /** Runs once the port is bound. Connections that arrive meanwhile wait until it has ended. */
  readonly beforeServing?: (() => Promise<void>) | undefined;
};

/** Counts sessions cut and connections refused because of abuse. */
export type ConnectionMeter = {
  readonly sessionCut: (reason: Abuse) => void;
  readonly connectionRefused: () => void;
};

/** The network that penalties of a connection go to; null: none, because many callers share it or it is closed. */
type CallerOf = (socket: Socket) => string | null;

export type HttpHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Why a request is refused before a handler sees it, or while its body is awaited. */
export type Problem = 'headers_too_large' | 'uri_too_long' | 'request_timeout' | 'malformed';

/** What is known of a request: the target of its request line, or null, and those of its headers that could be read. */
export type RequestHead = { readonly target: string | null; readonly headers: IncomingHttpHeaders };

export type RefusedRequest = RequestHead & { readonly problem: Problem };

export type Handlers = {
  /**
   * Every request that is not on the short path. The handler itself serves `Expect: 100-continue`: it calls
   * writeContinue() before it reads the body.
   */
  readonly http: HttpHandler;
  readonly grpc: {
    readonly accepts: (headers: IncomingHttpHeaders) => boolean;
    /** `rawHeaders` lists names and values in turn, repeated headers included. */
    readonly serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) => void;
    /** Refuses a stream whose message did not arrive in time. */
    readonly expire: (stream: ServerHttp2Stream) => void;
  };
  readonly refuse: (end: RefusedRequest, socket: Duplex) => Refusal;
};

/** The response to a refused request. Its headers say nothing about the connection. */
export type Refusal = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

/** What the HTTP/1.1 and the HTTP/2 half of the port share. */
export type HalfOptions = {
  readonly limits: ServerLimits;
  readonly handlers: Handlers;
  readonly queue: FairQueue;
  readonly callerOf: CallerOf;
  readonly newConnections: NewConnections;
  readonly deadlineCheckMs: number;
};

/** Connections that have not sent a complete request head yet, with the monotonic milliseconds of their acceptance. */
export type NewConnections = Map<Duplex, number>;
