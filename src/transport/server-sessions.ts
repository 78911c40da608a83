/**
 * Deadlines of HTTP/2. Node offers only idle timers, which a client keeps alive with a ping or a byte now and then. Here a
 * periodic check of all sessions enforces absolute deadlines for everything a client must do.
 */

import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { FairQueue } from './fair-queue.ts';
import type { ServerLimits } from './server-options.ts';

/** Called to refuse a stream whose request body is late. */
type OnLate = (stream: ServerHttp2Stream) => void;

type OnClosed = (stream: ServerHttp2Stream, session: Http2Session) => void;

type Sessions = {
  readonly add: (session: Http2Session, socket: Duplex) => void;
  /** Returns the connection of the stream; null where its session is gone. `mayBeLong`: by the longer limits, if there are any. */
  readonly watch: (stream: ServerHttp2Stream, watching: Watching) => Duplex | null;
  readonly checkDeadlines: (nowMs: number) => void;
  readonly announceClose: () => void;
  readonly closeIdle: () => void;
};

type Watching = { readonly onLate: OnLate; readonly mayBeLong: boolean };

type StreamProgress = Watching & {
  readonly openedAtMs: number;
  /** The stream's free receive window, and the unsent bytes of its response, at its last progress. */
  receiveWindow: number;
  unsentBytes: number;
  sentByConnection: number;
  movedAtMs: number;
  late: boolean;
};

type Session = {
  readonly socket: Duplex;
  readonly streams: Map<ServerHttp2Stream, StreamProgress>;
  /** When the last stream ended; null while one is open, and before the first one. */
  idleSinceMs: number | null;
  closing: boolean;
};

// A client that reads less than this between two deadlines is not reading its response.
const PROGRESS_BYTES = 16_384;
// How long a stream may go without a response, in multiples of the body timeout. Only answers of models take minutes: beyond
// it the response will not come, and the stream would stay open for ever.
const UNANSWERED_FACTOR = 4;
const LAST_STREAM_ID_MAX = 2_147_483_647;

type SessionsOptions = {
  readonly limits: ServerLimits;
  readonly slackMs: number;
  /** Streams that are late at once are cut through the queue, so that other requests run in between. */
  readonly queue: FairQueue;
  readonly onClosed: OnClosed;
};

export function createSessions({ limits, slackMs, queue, onClosed }: SessionsOptions): Sessions {
  const { bodyTimeoutMs: bodyMs, longBodyTimeoutMs, longAnswerTimeoutMs } = limits;
  const short = { bodyMs, answerMs: UNANSWERED_FACTOR * bodyMs };
  const long = { bodyMs: longBodyTimeoutMs ?? bodyMs, answerMs: longAnswerTimeoutMs ?? short.answerMs };
  const sessions = new Map<Http2Session, Session>();
  // As precise as the check interval; reading the clock for every stream would cost more.
  let coarseNowMs = performance.now();
  return {
    add(session, socket) {
      sessions.set(session, { socket, streams: new Map(), idleSinceMs: null, closing: false });
      session.once('close', () => sessions.delete(session));
    },
    watch(stream, watching) {
      const { session: owner } = stream;
      const session = owner && sessions.get(owner);
      if (!session) return null;
      session.idleSinceMs = null;
      session.streams.set(stream, startWatching(watching, coarseNowMs));
      stream.once('close', () => {
        session.streams.delete(stream);
        onClosed(stream, owner);
        if (session.streams.size === 0) session.idleSinceMs = coarseNowMs;
      });
      return session.socket;
    },
    checkDeadlines(nowMs) {
      coarseNowMs = nowMs;
      for (const [session, state] of sessions) {
        for (const [stream, watched] of state.streams) checkStream(stream, watched, nowMs);
        checkSession(session, state, nowMs);
      }
    },
    announceClose() {
      // The highest id: streams that the client opens before it reads the frame are still served.
      for (const session of sessions.keys()) {
        if (!session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM_ID_MAX);
      }
    },
    closeIdle() {
      for (const [session, state] of sessions) closeGracefully(session, state);
    },
  };

  function checkStream(stream: ServerHttp2Stream, watched: StreamProgress, nowMs: number): void {
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

  function isInTime(stream: ServerHttp2Stream, watched: StreamProgress, nowMs: number): boolean {
    const ageMs = nowMs - watched.openedAtMs;
    const { answerMs, bodyMs } = watched.mayBeLong ? long : short;
    if (!stream.headersSent && ageMs > answerMs + 2 * slackMs) return false;
    const awaitsBody = stream.state.remoteClose !== 1;
    if (awaitsBody && ageMs > bodyMs + 2 * slackMs) return false;
    if (hasMoved(stream, watched) || !(awaitsBody ? canClientSend(stream) : stream.writableLength > 0)) {
      watched.movedAtMs = nowMs;
    }
    return nowMs - watched.movedAtMs <= limits.bodyGapTimeoutMs + 2 * slackMs;
  }

  function checkSession(session: Http2Session, state: Session, nowMs: number): void {
    if (state.streams.size > 0) return;
    // A session whose client does not read the closing frames is destroyed one check later.
    if (session.destroyed) state.socket.destroy();
    else if (state.closing) session.destroy();
    else if (state.idleSinceMs !== null && nowMs - state.idleSinceMs > limits.idleTimeoutMs) {
      closeGracefully(session, state);
    }
  }
}

function startWatching(watching: Watching, nowMs: number): StreamProgress {
  return {
    ...watching,
    openedAtMs: nowMs,
    receiveWindow: -1,
    unsentBytes: 0,
    sentByConnection: 0,
    movedAtMs: nowMs,
    late: false,
  };
}

/** Whether the stream has made progress since the last check; reads only its counters, so its flow is not affected. */
function hasMoved(stream: ServerHttp2Stream, watched: StreamProgress): boolean {
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

/** A client with a used-up window must wait for the server, so it is not late. */
function canClientSend(stream: ServerHttp2Stream): boolean {
  return (stream.state.localWindowSize ?? 0) > 0;
}

/** Lets open streams finish; the client opens new ones on another connection. */
function closeGracefully(session: Http2Session, state: Session): void {
  state.closing = true;
  session.close();
}
