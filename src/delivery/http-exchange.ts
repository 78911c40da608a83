/** Sends one request on an open connection and reads the response. */

import type { Stop } from './attempt-stop.ts';
import { BAD_RESPONSE, CONNECTION_RESET, type Failure } from './failure.ts';
import type { Connection, HttpRequest } from './http-connection.ts';
import { createResponseReader, type Progress, type ResponseReader } from './http-response.ts';
import { type Answer, connectionFailure, isAcceptedStatus } from './http-verdict.ts';

type ExchangeOptions = {
  readonly request: HttpRequest;
  readonly stop: Stop;
  /** Milliseconds since the start of the attempt. */
  readonly elapsedMs: () => number;
  /** Whether to tell a loss of the connection before any byte of an answer from other failures. */
  readonly mayBeStale: boolean;
  /** Whether the body is needed even if the response is a success. */
  readonly needsText: boolean;
  /** Called once, at the end, if the connection can take another request. */
  readonly onUsable: (keptMs: number | null) => void;
};

/** `over`: both sides have finished. `cut`: the receiver has not finished, or has not read the request. */
type Ending = 'usable' | 'over' | 'cut';

/**
 * How long to wait for the rest of a body once the status is known, so that the connection can be reused. Then the
 * connection is closed, because a receiver could otherwise hold one for every attempt.
 */
const BODY_GRACE_MS = 250;
/** The same, while text is missing that the API shows. */
const TEXT_GRACE_MS = 2_000;

/** The receiver closed the connection, perhaps while it was idle: it may not have read the request. */
export const STALE = 'stale';

/**
 * The status decides as soon as the headers are complete, regardless of the body. Nothing is sent twice here: once a byte
 * of the request may have left, the first failure is the outcome. By then the connection is closed or back in the pool.
 */
export function exchange(connection: Connection, options: ExchangeOptions): Promise<Answer | Failure | typeof STALE> {
  const { request, stop, elapsedMs, mayBeStale, needsText, onUsable } = options;
  return new Promise((resolve) => {
    const reader = createResponseReader();
    let latencyMs = -1;
    let hasRead = false;
    let grace: NodeJS.Timeout | null = null;
    let graceMs = Number.POSITIVE_INFINITY;

    const finish = (failure: Failure, ending: Ending) => {
      stop.onStop(null);
      stop.end();
      if (grace) clearTimeout(grace);
      const head = reader.head();
      if (ending === 'usable') onUsable(head?.keptMs ?? null);
      else if (ending === 'over') connection.destroy();
      else connection.cut();
      if (!head) return resolve(failure);
      const { status, retryAfter } = head;
      resolve({ status, retryAfter, text: reader.text(), latencyMs });
    };
    const endWithin = (delayMs: number) => {
      if (delayMs >= graceMs) return;
      if (grace) clearTimeout(grace);
      graceMs = delayMs;
      grace = setTimeout(finish, delayMs, BAD_RESPONSE, 'cut');
    };
    const isTextShown = (status: number) => needsText || !isAcceptedStatus(status);
    const proceed = (progress: Progress) => {
      const head = reader.head();
      if (head && latencyMs < 0) latencyMs = elapsedMs();
      if (progress === 'end') finish(BAD_RESPONSE, endingOf(connection, reader));
      else if (progress === 'cut' || progress === 'bad') finish(BAD_RESPONSE, 'cut');
      else if (head) endWithin(isTextShown(head.status) && !reader.hasWholeText() ? TEXT_GRACE_MS : BODY_GRACE_MS);
    };
    connection.send(request, {
      onBytes(bytes) {
        hasRead = true;
        proceed(reader.read(bytes));
      },
      onClosed(error) {
        const isCutShort = error === null && reader.readEnd() === 'bad';
        const reason = isCutShort ? BAD_RESPONSE : error ? connectionFailure(error, false) : CONNECTION_RESET;
        if (!mayBeStale || hasRead || reason !== CONNECTION_RESET) return finish(reason, 'over');
        stop.onStop(null);
        resolve(STALE);
      },
    });
    stop.onStop((reason) => finish(reason, 'cut'));
  });
}

/** The state of the connection after a complete response. */
function endingOf(connection: Connection, reader: ResponseReader): Ending {
  if (!connection.hasSent()) return 'cut';
  return reader.leavesConnectionUsable() ? 'usable' : 'over';
}
