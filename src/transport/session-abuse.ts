/**
 * Cuts abusive HTTP/2 sessions: those that repeatedly send header lists that are too large, also by a few bytes that
 * expand to them (HPACK bombs), and those that open streams only to reset them.
 */

import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { createResetBudget } from './reset-budget.ts';

export type Abuse = 'headers' | 'resets';

type SessionAbuse = {
  readonly add: (session: Http2Session, address: string | null) => void;
  /** Reports a stream whose headers were too large. */
  readonly oversized: (stream: ServerHttp2Stream) => void;
  /** Reports a closed stream; it has lost its reference to the session. */
  readonly closed: (stream: ServerHttp2Stream, session: Http2Session) => void;
  /** Reports that nghttp2 has ended a session with an error. */
  readonly failed: (session: Http2Session, error: unknown) => void;
  /** Checks the next few sessions for streams that nghttp2 has refused by itself. */
  readonly check: () => void;
};

type State = {
  readonly address: string | null;
  /** The highest id of a stream that was opened. */
  openedId: number;
  /** The id of a stream whose headers have begun but which is not opened: they are incomplete, or refused. 0: none. */
  pendingId: number;
  rejectedBlocks: number;
  resets: number;
  resetsSinceMs: number;
};

/** Of one session: an honest client whose headers have grown too large gets a few errors before it is cut. */
const REJECTED_BLOCKS_MAX = 8;
const TOO_MANY_BLOCKS = 'too many header lists were too large';
const TOO_MANY_RESETS = 'too many streams were reset';
const SESSIONS_PER_CHECK = 250;
const CHECK_AGAIN_MS = 10;
/** The streams that a client opens have odd ids. */
const STREAM_ID_STEP = 2;
/** A session that fails after this many resets within this time was cut for them. */
const RESETS_MIN = 100;
const RESETS_WITHIN_MS = 20_000;
/** The error of nghttp2 for a header block in too many frames. */
const TOO_MANY_CONTINUATIONS = 'Too many CONTINUATION frames';

/** `onCut` is called once for a session. */
export function createSessionAbuse(onCut: (address: string | null, abuse: Abuse) => void): SessionAbuse {
  const states = new Map<Http2Session, State>();
  const resetBudget = createResetBudget(() => performance.now());
  let round = states.entries();

  function reject(session: Http2Session, state: State, blocks = 1): void {
    state.rejectedBlocks += blocks;
    if (state.rejectedBlocks >= REJECTED_BLOCKS_MAX) cut(session, state, 'headers');
  }

  function countReset(session: Http2Session, state: State): void {
    const nowMs = performance.now();
    if (nowMs - state.resetsSinceMs > RESETS_WITHIN_MS) Object.assign(state, { resets: 0, resetsSinceMs: nowMs });
    state.resets += 1;
    if (state.address !== null && !resetBudget.spend(state.address)) cut(session, state, 'resets');
  }

  function cut(session: Http2Session, state: State, abuse: Abuse): void {
    if (!states.delete(session)) return;
    onCut(state.address, abuse);
    // Not inside an event of the session, or its GOAWAY frame would be lost.
    setImmediate(() => {
      const reason = abuse === 'headers' ? TOO_MANY_BLOCKS : TOO_MANY_RESETS;
      if (!session.destroyed) session.destroy(new Error(reason), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  }

  /**
   * nghttp2 reports no refused header blocks. But the blocks of a session arrive one after the other: when the next
   * one has begun and the one before has not opened a stream, that one was refused.
   */
  function checkOne(session: Http2Session, state: State): void {
    if (session.destroyed || !states.has(session)) return;
    const { lastProcStreamID = 0 } = session.state;
    const refused = countRefused(state, lastProcStreamID);
    const isGoingOn = lastProcStreamID > Math.max(state.openedId, state.pendingId);
    state.pendingId = lastProcStreamID > state.openedId ? lastProcStreamID : 0;
    if (refused > 0) reject(session, state, refused);
    // A session that has opened no stream is checked in every turn: one turn is enough for many refused blocks.
    if (state.openedId === 0 && isGoingOn) setImmediate(() => checkOne(session, state));
    else if (refused > 0) setTimeout(() => checkOne(session, state), CHECK_AGAIN_MS).unref();
  }

  return {
    add(session, address) {
      const state = { address, openedId: 0, pendingId: 0, rejectedBlocks: 0, resets: 0, resetsSinceMs: 0 };
      states.set(session, state);
      // Many blocks may have arrived together with the start of the session.
      setImmediate(() => checkOne(session, state));
      // A stream that was reset has lost its reference to the session. Before the server serves the stream, only the client
      // can have closed it.
      session.prependListener('stream', (stream) => {
        noteOpened(state, stream);
        if (stream.closed) countReset(session, state);
      });
      session.once('close', () => setImmediate(() => states.delete(session)));
    },
    oversized({ session }) {
      const state = session && states.get(session);
      if (session && state) reject(session, state);
    },
    closed({ aborted, rstCode }, session) {
      // A client may reset with any code, also with that of a stream that has ended well.
      if (rstCode === constants.NGHTTP2_NO_ERROR && !aborted) return;
      const state = states.get(session);
      if (!state) return;
      // The trailers were too large.
      if (rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) reject(session, state);
      else countReset(session, state);
    },
    failed(session, error) {
      const state = states.get(session);
      // Waits for the close events of its streams.
      setImmediate(() => {
        const abuse = state ? abuseOf(state, error) : null;
        if (state && abuse !== null && states.delete(session)) onCut(state.address, abuse);
      });
    },
    check() {
      for (let checked = 0; checked < SESSIONS_PER_CHECK; checked += 1) {
        const { value, done } = round.next();
        if (done) {
          round = states.entries();
          return;
        }
        checkOne(...value);
      }
    },
  };
}

/**
 * Header blocks that were refused since the last check. Once a stream was opened, later streams may also be refused for
 * exceeding the number of open streams, which is not abuse; so then at most one is counted.
 */
function countRefused({ openedId, pendingId }: State, lastId: number): number {
  if (pendingId === 0 || lastId <= pendingId) return 0;
  return openedId > 0 ? 1 : (lastId - pendingId) / STREAM_ID_STEP;
}

function noteOpened(state: State, { id = 0 }: ServerHttp2Stream): void {
  state.openedId = Math.max(state.openedId, id);
  if (state.pendingId <= id) state.pendingId = 0;
}

function abuseOf({ resets, resetsSinceMs }: State, error: unknown): Abuse | null {
  if (!(error instanceof Error)) return null;
  if (error.message.startsWith(TOO_MANY_CONTINUATIONS)) return 'headers';
  return resets >= RESETS_MIN && performance.now() - resetsSinceMs <= 2 * RESETS_WITHIN_MS ? 'resets' : null;
}
