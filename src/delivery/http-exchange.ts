/** One request and its answer on an open connection. */

import type { Stop } from './attempt-stop.ts';
import type { Connection, HttpRequest } from './http-connection.ts';
import { createResponseReader, type Progress } from './http-response.ts';
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

/**
 * How long a success waits for the end of its body, which leaves the connection free for the next attempt. After that
 * the rest is read on the side.
 */
const BODY_GRACE_MS = 250;

/**
 * The status decides as soon as the header block is in, whatever becomes of the body. Nothing is sent twice: once a
 * byte of the request may have left, the first failure is the outcome.
 */
export function exchange(connection: Connection, options: ExchangeOptions): Promise<Exchanged> {
  const { request, stop, elapsedMs, wantsText, onUsable } = options;
  return new Promise((resolve) => {
    const reader = createResponseReader();
    let latencyMs = -1;
    let grace: NodeJS.Timeout | null = null;

    const answer = () => {
      const head = reader.head();
      if (!head) return;
      const { status, retryAfter } = head;
      resolve({ kind: 'answered', answer: { status, retryAfter, text: reader.text(), latencyMs } });
    };
    const finish = (failure: Failure, isUsable: boolean) => {
      stop.onStop(null);
      stop.end();
      if (grace) clearTimeout(grace);
      if (isUsable) onUsable(reader.head()?.keptMs ?? null);
      else connection.destroy();
      if (reader.head()) answer();
      else resolve({ kind: 'failed', failure });
    };
    const proceed = (progress: Progress) => {
      const head = reader.head();
      if (head && latencyMs < 0) latencyMs = elapsedMs();
      if (progress === 'end') finish(BAD_RESPONSE, reader.leavesConnectionUsable() && connection.hasSent());
      else if (progress === 'cut' || progress === 'bad') finish(BAD_RESPONSE, false);
      else if (!head) return;
      else if (reader.hasWholeText()) answer();
      else if (!wantsText && isAcceptedStatus(head.status)) grace ??= setTimeout(answer, BODY_GRACE_MS);
    };
    connection.send(request, {
      onBytes: (bytes) => proceed(reader.take(bytes)),
      onClosed(error) {
        const isCutShort = error === null && reader.takeEnd() === 'bad';
        finish(isCutShort ? BAD_RESPONSE : error ? connectionFailure(error, false) : CONNECTION_RESET, false);
      },
    });
    stop.onStop((reason) => finish(reason, false));
  });
}
