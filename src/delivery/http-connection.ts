/** One open connection to a receiver, on which one request after the other may be sent. */

import type { Socket } from 'node:net';

/** Where the bytes of a socket go: sockets are told before there is a connection around them. */
export type Inlet = { onBytes: (bytes: Buffer) => void };

export type ConnectionListener = {
  /** The bytes are overwritten after the call. */
  readonly onBytes: (bytes: Buffer) => void;
  /** Null: the receiver ended the connection in good order. */
  readonly onClosed: (error: Error | null) => void;
};

export type Connection = {
  /** The address it leads to, as it was vetted. */
  readonly peer: string;
  readonly isOpen: () => boolean;
  readonly send: (request: HttpRequest, listener: ConnectionListener) => void;
  /** Nothing of the request waits any more to be written. */
  readonly hasSent: () => boolean;
  /** Nothing is expected from here on: whatever the receiver says next closes the connection. */
  readonly rest: () => void;
  readonly destroy: () => void;
  /** For a receiver that has not kept to the end: nothing of the connection is left, on either side. */
  readonly cut: () => void;
};

export type HttpRequest = { readonly head: string; readonly body: Buffer };

/** Copying less than this is cheaper than handing two buffers to the system. */
const COPY_MAX_BYTES = 32_768;

export type ConnectionSockets = {
  readonly socket: Socket;
  /** The one below, where that is TLS; otherwise the same. */
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
 * Closes a socket without an ordinary end. After one the system keeps what was not read yet, and waits for the end of
 * the other side, which may never come.
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
