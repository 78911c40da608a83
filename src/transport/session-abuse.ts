/**
 * HTTP/2 sessions that cost more than they may: header lists that are too large again and again, be it that a few bytes
 * expand to them (HPACK bombs), and streams that are opened only to be reset. They are cut.
 */

import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';

export type Abuse = 'headers' | 'resets';

export type SessionAbuse = {
  readonly add: (session: Http2Session, address: string | null) => void;
  /** Tells of a stream whose headers were too large. */
  readonly oversized: (stream: ServerHttp2Stream) => void;
  /** A stream that has closed does not know its session any more. */
  readonly closed: (stream: ServerHttp2Stream, session: Http2Session) => void;
  /** Tells that the protocol layer has given a session up. */
  readonly failed: (session: Http2Session, error: unknown) => void;
  /** Looks for streams that the protocol layer has refused by itself, of some sessions in turn. */
  readonly check: () => void;
};

type State = {
  readonly address: string | null;
  /** The highest stream that came this far. */
  openedId: number;
  /** A stream that has begun and did not come this far yet: its headers are incomplete, or refused. 0: none. */
  pendingId: number;
  rejectedBlocks: number;
  resets: number;
  resetsSinceMs: number;
};

/** Of one session. Somebody whose headers once grew too large is told so a few times before. */
const REJECTED_BLOCKS_MAX = 8;
const TOO_MANY_BLOCKS = 'too many header lists were too large';
const SESSIONS_PER_CHECK = 250;
const CHECK_AGAIN_MS = 10;
/** The streams that a client opens have odd ids. */
const STREAM_ID_STEP = 2;
/** So many resets within so long before a session fails are the reason for it. */
const RESETS_MIN = 100;
const RESETS_WITHIN_MS = 20_000;
/** A header block in more frames than the protocol layer puts up with. */
const TOO_MANY_CONTINUATIONS = 'Too many CONTINUATION frames';

/** `onCut` is called once for a session. */
export function createSessionAbuse(onCut: (address: string | null, abuse: Abuse) => void): SessionAbuse {
  const states = new Map<Http2Session, State>();
  let round = states.entries();

  function reject(session: Http2Session, state: State, blocks = 1): void {
    state.rejectedBlocks += blocks;
    if (state.rejectedBlocks < REJECTED_BLOCKS_MAX) return;
    states.delete(session);
    onCut(state.address, 'headers');
    // Not from inside of what the session is telling, or its farewell would be lost.
    setImmediate(() => {
      if (!session.destroyed) session.destroy(new Error(TOO_MANY_BLOCKS), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  }

  /**
   * The protocol layer tells nobody of what it refuses. But header blocks come one after the other, so when the next
   * has begun, one that never came this far was refused.
   */
  function checkOne(session: Http2Session, state: State): void {
    if (session.destroyed || !states.has(session)) return;
    const { lastProcStreamID = 0 } = session.state;
    const refused = countRefused(state, lastProcStreamID);
    const isGoingOn = lastProcStreamID > Math.max(state.openedId, state.pendingId);
    state.pendingId = lastProcStreamID > state.openedId ? lastProcStreamID : 0;
    if (refused > 0) reject(session, state, refused);
    // Who has sent nothing else is watched at every turn, for a turn is enough for many of them.
    if (state.openedId === 0 && isGoingOn) setImmediate(() => checkOne(session, state));
    else if (refused > 0) setTimeout(() => checkOne(session, state), CHECK_AGAIN_MS).unref();
  }

  return {
    add(session, address) {
      const state = { address, openedId: 0, pendingId: 0, rejectedBlocks: 0, resets: 0, resetsSinceMs: 0 };
      states.set(session, state);
      // Much may have been sent together with the beginning of the session.
      setImmediate(() => checkOne(session, state));
      // A stream that was reset meanwhile does not know its session any more.
      session.on('stream', (stream) => noteOpened(state, stream));
      session.once('close', () => setImmediate(() => states.delete(session)));
    },
    oversized({ session }) {
      const state = session && states.get(session);
      if (session && state) reject(session, state);
    },
    closed({ rstCode }, session) {
      if (rstCode === constants.NGHTTP2_NO_ERROR) return;
      const state = states.get(session);
      if (!state) return;
      // Trailers were too large.
      if (rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) reject(session, state);
      else if (rstCode === constants.NGHTTP2_CANCEL) countReset(state, performance.now());
    },
    failed(session, error) {
      const state = states.get(session);
      // Its streams tell of their end first.
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
 * Header blocks that were refused since the last look. Once a stream has come this far, later ones may be refused for
 * their number, which is another matter; so then it is one at most.
 */
function countRefused({ openedId, pendingId }: State, lastId: number): number {
  if (pendingId === 0 || lastId <= pendingId) return 0;
  return openedId > 0 ? 1 : (lastId - pendingId) / STREAM_ID_STEP;
}

function noteOpened(state: State, { id = 0, closed, rstCode }: ServerHttp2Stream): void {
  state.openedId = Math.max(state.openedId, id);
  if (state.pendingId <= id) state.pendingId = 0;
  if (closed && rstCode === constants.NGHTTP2_CANCEL) countReset(state, performance.now());
}

function countReset(state: State, nowMs: number): void {
  if (nowMs - state.resetsSinceMs > RESETS_WITHIN_MS) Object.assign(state, { resets: 0, resetsSinceMs: nowMs });
  state.resets += 1;
}

function abuseOf({ resets, resetsSinceMs }: State, error: unknown): Abuse | null {
  if (!(error instanceof Error)) return null;
  if (error.message.startsWith(TOO_MANY_CONTINUATIONS)) return 'headers';
  return resets >= RESETS_MIN && performance.now() - resetsSinceMs <= 2 * RESETS_WITHIN_MS ? 'resets' : null;
}
