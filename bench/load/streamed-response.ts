import { createResponseReader, type OnResponse } from './http-response.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const CHUNKS_END = Buffer.from('\r\n0\r\n\r\n');

/**
 * As createResponseReader, also for answers that come in chunks. `onFirstBytes` is called with the first bytes of the body. The
 * body of an answer in chunks still has the lines between them.
 */
export function createStreamedReader(onResponse: OnResponse, onFirstBytes: () => void): (bytes: Buffer) => void {
  let received: Buffer = Buffer.alloc(0);
  /** Of an answer in chunks; -1: its head is not there yet. */
  let bodyStart = -1;
  let hasBegun = false;
  /** Of an answer with a length. */
  let readWhole: ((bytes: Buffer) => void) | null = null;

  function begin(): void {
    if (hasBegun) return;
    hasBegun = true;
    onFirstBytes();
  }

  function end(status: number, body: Buffer): void {
    [received, bodyStart, hasBegun, readWhole] = [Buffer.alloc(0), -1, false, null];
    onResponse(status, body);
  }

  return (bytes) => {
    if (readWhole !== null) {
      begin();
      readWhole(bytes);
      return;
    }
    received = received.length === 0 ? Buffer.from(bytes) : Buffer.concat([received, bytes]);
    if (bodyStart < 0) {
      const head = received.indexOf(HEAD_END);
      if (head < 0) return;
      if (!/\r\ntransfer-encoding: *chunked/i.test(received.toString('latin1', 0, head))) {
        readWhole = createResponseReader(end);
        if (received.length > head + HEAD_END.length) begin();
        readWhole(received);
        return;
      }
      bodyStart = head + HEAD_END.length;
    }
    if (received.length > bodyStart) begin();
    // The line break of the last chunk may be that of the head, if there is no other.
    if (
      !received
        .subarray(bodyStart - 2)
        .subarray(-CHUNKS_END.length)
        .equals(CHUNKS_END)
    )
      return;
    end(Number(received.toString('latin1', 9, 12)), received.subarray(bodyStart, -CHUNKS_END.length));
  };
}
