/** Detects HTTP/2 or HTTP/1 by the first bytes of a cleartext connection. */

import type { Socket } from 'node:net';

// How every HTTP/2 connection begins; no HTTP/1 method starts with these letters.
const PREFACE = Buffer.from('PRI * HTTP/2.0');
const ENOUGH_BYTES = 4;
const EMPTY = Buffer.alloc(0);

type ProtocolHandlers = {
  readonly http1: (socket: Socket, seen: Buffer) => void;
  readonly http2: (socket: Socket) => void;
};

/** Calls the handler of the protocol once the first bytes have arrived, and puts those bytes back. */
export function sniff(socket: Socket, { http1, http2 }: ProtocolHandlers): void {
  let seen: Buffer = EMPTY;
  const onEnd = () => socket.destroy();
  const onData = (chunk: Buffer) => {
    seen = seen === EMPTY ? chunk : Buffer.concat([seen, chunk]);
    const verdict = protocolOf(seen);
    if (verdict === 'unclear') return;
    socket.off('data', onData).off('end', onEnd);
    socket.pause();
    socket.unshift(seen);
    if (verdict === 'http2') {
      http2(socket);
    } else {
      http1(socket, seen);
      socket.resume();
    }
  };
  socket.on('data', onData).on('end', onEnd);
}

function protocolOf(seen: Buffer): 'http1' | 'http2' | 'unclear' {
  const length = Math.min(seen.length, ENOUGH_BYTES);
  if (PREFACE.compare(seen, 0, length, 0, length) !== 0) return 'http1';
  return length === ENOUGH_BYTES ? 'http2' : 'unclear';
}
