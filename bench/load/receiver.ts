import { createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

/** Receives and counts webhooks as fast as this process can. */
export type Receiver = {
  readonly port: number;
  counts(): Counts;
  /** Holds answers from now on, so that senders almost stop. */
  hold(): void;
  /** Sends the held answers; later ones are sent at once. */
  release(): void;
  /** Head and body of the first request. */
  first(): { readonly head: string; readonly body: Buffer } | null;
  close(): void;
};

export type Counts = { readonly requests: number; readonly events: number };

export type ReceiverOptions = {
  /** Counts the events of a body, which is valid only during the call. */
  readonly countEvents: (body: Buffer) => number;
  /** Called with the time from an answer to the end of the next request on the same connection. */
  readonly onTurn?: (tookMs: number) => void;
};

type Line = { readonly socket: Socket; bytes: Buffer; length: number; answeredAt: number | null };

const headEnd = Buffer.from('\r\n\r\n');
const answer = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
const envelopeMark = Buffer.from('"schema_version":');
const bufferBytes = 131_072;
// Shorter than every sender's timeout, so that held answers do not count as failures.
const heldMaxMs = 6_000;
const checkMs = 100;

/** Each envelope of this bench holds the mark once. */
export function countEnvelopes(body: Buffer): number {
  let events = 0;
  for (let at = body.indexOf(envelopeMark); at >= 0; at = body.indexOf(envelopeMark, at + envelopeMark.length)) {
    events += 1;
  }
  return events;
}

export async function openReceiver({ countEvents, onTurn }: ReceiverOptions): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let held: { readonly line: Line; readonly sinceMs: number }[] = [];
  let isHolding = false;
  let requests = 0;
  let events = 0;
  let first: { head: string; body: Buffer } | null = null;

  function give(line: Line): void {
    line.answeredAt = performance.now();
    line.socket.write(answer);
  }

  function finish(line: Line, head: string, body: Buffer): void {
    requests += 1;
    events += countEvents(body);
    first ??= { head, body: Buffer.from(body) };
    if (line.answeredAt !== null) onTurn?.(performance.now() - line.answeredAt);
    if (isHolding) held.push({ line, sinceMs: performance.now() });
    else give(line);
  }

  const server = createServer({ noDelay: true }, (socket) => {
    const line: Line = { socket, bytes: Buffer.alloc(bufferBytes), length: 0, answeredAt: null };
    sockets.add(socket);
    socket.on('data', (chunk) => take(line, chunk, finish));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver is not listening.');
  const timer = setInterval(() => {
    const oldestMs = performance.now() - heldMaxMs;
    while (held[0] !== undefined && held[0].sinceMs < oldestMs) {
      const { line } = held[0];
      held.shift();
      give(line);
    }
  }, checkMs);

  return {
    port: address.port,
    counts: () => ({ requests, events }),
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const { line } of held) give(line);
      held = [];
    },
    first: () => first,
    close() {
      clearInterval(timer);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Parses requests that come one at a time with a Content-Length. */
function take(line: Line, chunk: Buffer, finish: (line: Line, head: string, body: Buffer) => void): void {
  if (line.length + chunk.length > line.bytes.length) {
    line.bytes = Buffer.concat([line.bytes, Buffer.alloc(line.bytes.length + chunk.length)]);
  }
  chunk.copy(line.bytes, line.length);
  line.length += chunk.length;
  const received = line.bytes.subarray(0, line.length);
  const headBytes = received.indexOf(headEnd);
  if (headBytes < 0) return;
  const head = received.toString('latin1', 0, headBytes);
  const match = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (match === null) throw new Error(`A webhook has no Content-Length:\n${head}`);
  const bodyStart = headBytes + headEnd.length;
  if (line.length < bodyStart + Number(match[1])) return;
  line.length = 0;
  finish(line, head, received.subarray(bodyStart));
}
