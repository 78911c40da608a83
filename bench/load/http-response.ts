const headEnd = Buffer.from('\r\n\r\n');

/** Status and body of one complete answer. The body is valid only during the call. */
export type OnResponse = (status: number, body: Buffer) => void;

/**
 * Parses HTTP/1.1 answers that come one at a time with a Content-Length, and throws on others. A full client would cost
 * more than the server spends on the request.
 */
export function createResponseReader(onResponse: OnResponse): (bytes: Buffer) => void {
  /** The received beginning of a head. */
  let begun: Buffer = Buffer.alloc(0);
  /** The room of an incomplete answer, of which `received` bytes are there. */
  let answer: Buffer | null = null;
  let received = 0;
  let bodyStart = 0;

  function begin(read: Buffer): void {
    const head = read.indexOf(headEnd);
    if (head < 0) {
      begun = Buffer.from(read);
      return;
    }
    begun = Buffer.alloc(0);
    bodyStart = head + headEnd.length;
    const length = bodyStart + contentLength(read.toString('latin1', 0, head));
    if (read.length >= length) end(read, length);
    else {
      answer = Buffer.allocUnsafe(length);
      received = read.copy(answer);
    }
  }

  function end(read: Buffer, length: number): void {
    if (read.length > length) throw new Error('The server sent more than the answer.');
    onResponse(statusOf(read), read.subarray(bodyStart));
  }

  return (bytes) => {
    if (answer === null) {
      begin(begun.length === 0 ? bytes : Buffer.concat([begun, bytes]));
      return;
    }
    if (received + bytes.length > answer.length) throw new Error('The server sent more than the answer.');
    received += bytes.copy(answer, received);
    if (received < answer.length) return;
    const whole = answer;
    answer = null;
    end(whole, whole.length);
  };
}

/** Reads the three digits of `HTTP/1.1 200 OK`. */
function statusOf(read: Buffer): number {
  return Number(read.toString('latin1', 9, 12));
}

function contentLength(head: string): number {
  const match = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (match === null) throw new Error(`The answer has no Content-Length:\n${head}`);
  return Number(match[1]);
}
