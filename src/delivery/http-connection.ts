/** One open connection to a receiver, for one request after the other. */

import type { Socket } from 'node:net';

/** The reader of a socket's bytes, which the socket needs before its connection exists. */
export type Inlet = { onBytes: (bytes: Buffer) => void };

type ConnectionListener = {
  /** The bytes are overwritten after the call. */
  readonly onBytes: (bytes: Buffer) => void;
  /** Null: the receiver closed the connection normally. */
  readonly onClosed: (error: Error | null) => void;
};

export type Connection = {
  /** The connected address, as the policy checked it. */
  readonly peer: string;
  readonly isOpen: () => boolean;
  readonly send: (request: HttpRequest, listener: ConnectionListener) => void;
  /** Whether the whole request has been written. */
  readonly hasSent: () => boolean;
  /** Makes the connection idle: any further byte of the receiver closes it. */
  readonly rest: () => void;
  readonly destroy: () => void;
  /** For a receiver that did not finish: resets the connection, so that neither side keeps anything of it. */
  readonly cut: () => void;
};

export type HttpRequest = { readonly head: string; readonly body: Buffer };

/** Below this size copying is cheaper than passing two buffers to the system. */
const COPY_MAX_BYTES = 32_768;

type ConnectionSockets = {
  readonly socket: Socket;
  /** The TCP socket below TLS; without TLS the same socket. */
  readonly tcp: Socket;
  readonly inlet: Inlet;
};

export function createConnection({ socket, tcp, inlet }: ConnectionSockets, peer: string): Connection {
  let listener: ConnectionListener | null = null;
  let isOpen = true;
  const close = (error: Error | null) => {
    if (!isOpen) return;
    isOpen = false;
    socket.destroy();
    listener?.onClosed(error);
  };
  inlet.onBytes = (bytes) => {
    if (listener) listener.onBytes(bytes);
    else close(null);
  };
  socket.on('error', close);
  socket.on('end', () => close(null));
  socket.on('close', () => close(null));
  return {
    peer,
    isOpen: () => isOpen,
    send(request, next) {
      listener = next;
      write(socket, request);
    },
    hasSent: () => socket.writableLength === 0,
    rest() {
      listener = null;
    },
    destroy() {
      listener = null;
      close(null);
    },
    cut() {
      listener = null;
      if (isOpen) reset(tcp);
      close(null);
    },
  };
}

/**
 * Resets a socket. After a normal close the system keeps unread bytes and waits for the receiver to close, which may
 * never happen.
 */
export function reset(tcp: Socket): void {
  if (tcp.connecting || tcp.destroyed) tcp.destroy();
  else tcp.resetAndDestroy();
}

function write(socket: Socket, { head, body }: HttpRequest): void {
  if (body.length > COPY_MAX_BYTES) {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
    return;
  }
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  body.copy(bytes, head.length);
  socket.write(bytes);
}
