const headEnd = Buffer.from('\r\n\r\n');

/** Status and body of one complete answer. The body is valid only during the call. */
export type OnResponse = (status: number, body: Buffer) => void;

/**
 * Parses HTTP/1.1 answers that come one at a time with a Content-Length, and throws on others. A full client would cost
 * more than the server spends on the request.
 */
export function createResponseReader(onResponse: OnResponse): (bytes: Buffer) => void {
  let rest: Buffer | null = null;
  return (bytes) => {
    const read: Buffer = rest === null ? bytes : Buffer.concat([rest, bytes]);
    const head = read.indexOf(headEnd);
    if (head < 0) {
      rest = Buffer.from(read);
      return;
    }
    const bodyStart = head + headEnd.length;
    const length = contentLength(read.toString('latin1', 0, head));
    if (read.length < bodyStart + length) {
      rest = Buffer.from(read);
      return;
    }
    if (read.length > bodyStart + length) throw new Error('The server sent more than the answer.');
    rest = null;
    onResponse(statusOf(read), read.subarray(bodyStart));
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
