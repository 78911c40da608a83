/** One request and its answer on an open connection. */

import type { Stop } from './attempt-stop.ts';
import type { Connection, HttpRequest } from './http-connection.ts';
import { createResponseReader, type Progress, type ResponseReader } from './http-response.ts';
import {
  type Answer,
  BAD_RESPONSE,
  CONNECTION_RESET,
  connectionFailure,
  type Failure,
  isAcceptedStatus,
} from './http-verdict.ts';

export type Exchanged =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: Failure };

export type ExchangeOptions = {
  readonly request: HttpRequest;
  readonly stop: Stop;
  /** Milliseconds since the attempt began. */
  readonly elapsedMs: () => number;
  /** The body of the answer is of interest even when the answer is a success. */
  readonly wantsText: boolean;
  /** Called once, at the end, when the connection can take another request. */
  readonly onUsable: (keptMs: number | null) => void;
};

/** Over: both sides have said all they had to say. Cut: the receiver has not, or has not heard it. */
type Parting = 'usable' | 'over' | 'cut';

/**
 * How long after the verdict the end of a body is waited for, which leaves the connection free for the next attempt.
 * Then the connection is closed, because a receiver could otherwise hold one for every attempt it has answered.
 */
const BODY_GRACE_MS = 250;
/** The same, as long as there is text to come that will be shown. */
const TEXT_GRACE_MS = 2_000;

/**
 * The status decides as soon as the header block is in, whatever becomes of the body. Nothing is sent twice: once a
 * byte of the request may have left, the first failure is the outcome. When there is an outcome, the connection has
 * been closed or given back.
 */
export function exchange(connection: Connection, options: ExchangeOptions): Promise<Exchanged> {
  const { request, stop, elapsedMs, wantsText, onUsable } = options;
  return new Promise((resolve) => {
    const reader = createResponseReader();
    let latencyMs = -1;
    let grace: NodeJS.Timeout | null = null;
    let graceMs = Number.POSITIVE_INFINITY;

    const finish = (failure: Failure, parting: Parting) => {
      stop.onStop(null);
      stop.end();
      if (grace) clearTimeout(grace);
      const head = reader.head();
      if (parting === 'usable') onUsable(head?.keptMs ?? null);
      else if (parting === 'over') connection.destroy();
      else connection.cut();
      if (!head) return resolve({ kind: 'failed', failure });
      const { status, retryAfter } = head;
      resolve({ kind: 'answered', answer: { status, retryAfter, text: reader.text(), latencyMs } });
    };
    const endWithin = (delayMs: number) => {
      if (delayMs >= graceMs) return;
      if (grace) clearTimeout(grace);
      graceMs = delayMs;
      grace = setTimeout(finish, delayMs, BAD_RESPONSE, 'cut');
    };
    const isTextShown = (status: number) => wantsText || !isAcceptedStatus(status);
    const proceed = (progress: Progress) => {
      const head = reader.head();
      if (head && latencyMs < 0) latencyMs = elapsedMs();
      if (progress === 'end') finish(BAD_RESPONSE, partingOf(connection, reader));
      else if (progress === 'cut' || progress === 'bad') finish(BAD_RESPONSE, 'cut');
      else if (head) endWithin(isTextShown(head.status) && !reader.hasWholeText() ? TEXT_GRACE_MS : BODY_GRACE_MS);
    };
    connection.send(request, {
      onBytes: (bytes) => proceed(reader.take(bytes)),
      onClosed(error) {
        const isCutShort = error === null && reader.takeEnd() === 'bad';
        finish(isCutShort ? BAD_RESPONSE : error ? connectionFailure(error, false) : CONNECTION_RESET, 'over');
      },
    });
    stop.onStop((reason) => finish(reason, 'cut'));
  });
}

/** How an answer that is complete leaves the connection. */
function partingOf(connection: Connection, reader: ResponseReader): Parting {
  if (!connection.hasSent()) return 'cut';
  return reader.leavesConnectionUsable() ? 'usable' : 'over';
}
