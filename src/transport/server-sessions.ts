/**
 * Deadlines of HTTP/2. Node offers idle timers only, which a client keeps alive with a ping or a byte now and then;
 * one sweep over all sessions holds every wait on a client to an absolute deadline instead.
 */

import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { FairQueue } from './fair-queue.ts';
import type { ServerLimits } from './server.ts';

/** Refuses a stream whose request body is late. */
export type OnLate = (stream: ServerHttp2Stream) => void;

export type OnClosed = (stream: ServerHttp2Stream, session: Http2Session) => void;

export type Sessions = {
  readonly add: (session: Http2Session, socket: Duplex) => void;
  /** Answers the connection of the stream. */
  readonly watch: (stream: ServerHttp2Stream, onLate: OnLate) => Duplex | null;
  readonly sweep: (nowMs: number) => void;
  readonly announceClose: () => void;
  readonly closeResting: () => void;
};

type Watched = {
  readonly onLate: OnLate;
  readonly openedAtMs: number;
  /** What was left of the stream's receive window, and unsent of its answer, when it last moved. */
  receiveWindow: number;
  unsentBytes: number;
  sentByConnection: number;
  movedAtMs: number;
  late: boolean;
};

type Session = {
  readonly socket: Duplex;
  readonly streams: Map<ServerHttp2Stream, Watched>;
  /** When the last stream ended; null while one is open, and before the first. */
  restingSinceMs: number | null;
  closing: boolean;
};

// A client that takes less than this between two deadlines is not reading its answer.
const PROGRESS_BYTES = 16_384;
// How many times what a body may take a stream may go without a word from us. No rpc works for minutes: beyond it
// the answer is not coming, and the stream would hold its place for ever.
const UNANSWERED_FACTOR = 4;
const LAST_STREAM_ID_MAX = 2_147_483_647;

export type SessionsOptions = {
  readonly limits: ServerLimits;
  readonly slackMs: number;
  /** Streams that are late together are cut one after the other, with room for others in between. */
  readonly queue: FairQueue;
  readonly onClosed: OnClosed;
};

export function createSessions({ limits, slackMs, queue, onClosed }: SessionsOptions): Sessions {
  const sessions = new Map<Http2Session, Session>();
  // Good to one sweep, and free where a clock reading per stream is not.
  let coarseNowMs = performance.now();
  return {
    add(session, socket) {
      sessions.set(session, { socket, streams: new Map(), restingSinceMs: null, closing: false });
      session.once('close', () => sessions.delete(session));
    },
    watch(stream, onLate) {
      const { session: owner } = stream;
      const session = owner && sessions.get(owner);
      if (!session) return null;
      session.restingSinceMs = null;
      session.streams.set(stream, startWatching(onLate, coarseNowMs));
      stream.once('close', () => {
        session.streams.delete(stream);
        onClosed(stream, owner);
        if (session.streams.size === 0) session.restingSinceMs = coarseNowMs;
      });
      return session.socket;
    },
    sweep(nowMs) {
      coarseNowMs = nowMs;
      for (const [session, state] of sessions) {
        for (const [stream, watched] of state.streams) sweepStream(stream, watched, nowMs);
        sweepSession(session, state, nowMs);
      }
    },
    announceClose() {
      // Every stream opened until the client has read this is still served.
      for (const session of sessions.keys()) {
        if (!session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM_ID_MAX);
      }
    },
    closeResting() {
      for (const [session, state] of sessions) closeGracefully(session, state);
    },
  };

  function sweepStream(stream: ServerHttp2Stream, watched: Watched, nowMs: number): void {
    const { session } = stream;
    if (watched.late) {
      queue.add(session, () => stream.destroy());
      return;
    }
    const state = session && sessions.get(session);
    if (!session || !state || isInTime(stream, watched, nowMs)) return;
    watched.late = true;
    queue.add(session, () => {
      if (!stream.destroyed) watched.onLate(stream);
      closeGracefully(session, state);
    });
  }

  function isInTime(stream: ServerHttp2Stream, watched: Watched, nowMs: number): boolean {
    const ageMs = nowMs - watched.openedAtMs;
    if (!stream.headersSent && ageMs > UNANSWERED_FACTOR * limits.bodyTimeoutMs + 2 * slackMs) return false;
    const awaitsBody = stream.state.remoteClose !== 1;
    if (awaitsBody && ageMs > limits.bodyTimeoutMs + 2 * slackMs) return false;
    if (hasMoved(stream, watched) || !(awaitsBody ? isClientsTurn(stream) : stream.writableLength > 0)) {
      watched.movedAtMs = nowMs;
    }
    return nowMs - watched.movedAtMs <= limits.bodyGapTimeoutMs + 2 * slackMs;
  }

  function sweepSession(session: Http2Session, state: Session, nowMs: number): void {
    if (state.streams.size > 0) return;
    // A client that does not even take the farewell is cut one sweep later.
    if (session.destroyed) state.socket.destroy();
    else if (state.closing) session.destroy();
    else if (state.restingSinceMs !== null && nowMs - state.restingSinceMs > limits.idleTimeoutMs) {
      closeGracefully(session, state);
    }
  }
}

function startWatching(onLate: OnLate, nowMs: number): Watched {
  return {
    onLate,
    openedAtMs: nowMs,
    receiveWindow: -1,
    unsentBytes: 0,
    sentByConnection: 0,
    movedAtMs: nowMs,
    late: false,
  };
}

/** Looks at the frames of a stream without touching its flow. */
function hasMoved(stream: ServerHttp2Stream, watched: Watched): boolean {
  const receiveWindow = stream.state.localWindowSize ?? 0;
  const unsentBytes = stream.writableLength;
  const sentByConnection = stream.session?.socket.bytesWritten ?? 0;
  const moved =
    receiveWindow !== watched.receiveWindow ||
    unsentBytes !== watched.unsentBytes ||
    sentByConnection - watched.sentByConnection >= PROGRESS_BYTES;
  if (moved) Object.assign(watched, { receiveWindow, unsentBytes, sentByConnection });
  return moved;
}

/** With its window used up a client may not send: then it waits for us. */
function isClientsTurn(stream: ServerHttp2Stream): boolean {
  return (stream.state.localWindowSize ?? 0) > 0;
}

/** Open streams finish, new ones go to another connection. */
function closeGracefully(session: Http2Session, state: Session): void {
  state.closing = true;
  session.close();
}
