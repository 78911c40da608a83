/** Opens connections to addresses that the policy allowed, and to nothing else. */

import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { UrlTarget } from '../domain/endpoints/url-policy.ts';
import { isSameAddress, parseAddress } from '../domain/public-address.ts';
import type { Stop } from './attempt-stop.ts';
import { type Connection, type ConnectionSockets, createConnection, type Inlet, reset } from './http-connection.ts';
import { READ_MAX_BYTES } from './http-response.ts';
import {
  CONNECT_FAILED,
  CONNECTION_RESET,
  connectFailure,
  connectionFailure,
  type Failure,
  URL_REFUSED,
} from './http-verdict.ts';

export type EgressDeps = {
  readonly connectMs: number;
  /** The only source of sockets. */
  readonly connect?: (options: TcpNetConnectOpts) => Socket;
  /** The trusted certificates; by default those of Node, with NODE_EXTRA_CA_CERTS. */
  readonly secureContext?: SecureContext;
};

type Egress = {
  /** Tries the addresses in order. The caller MUST have checked them against the policy; they are no names. */
  readonly dial: (target: UrlTarget, addresses: readonly string[], stop: Stop) => Promise<Dialled>;
  /** Sockets that are not closed, including those still connecting. */
  readonly openSockets: () => number;
};

type Dialled = { readonly kind: 'open'; readonly connection: Connection } | Failed;

type Failed = { readonly kind: 'failed'; readonly failure: Failure };
type Opened = { readonly kind: 'open'; readonly socket: Socket } | Failed;
type Settle = (outcome: Opened) => void;

const ADDRESSES_MAX = 4;

/** All sockets read into this buffer: each read is consumed before the next one starts. */
const READ_BUFFER = Buffer.alloc(READ_MAX_BYTES);

export function createEgress({ connectMs, connect = connectTcp, ...deps }: EgressDeps): Egress {
  // Created on first use, because reading all certificates is slow.
  let secureContext = deps.secureContext;
  let openSockets = 0;

  async function open(target: UrlTarget, address: string, stop: Stop): Promise<Dialled> {
    const inlet: Inlet = { onBytes: () => {} };
    const socket = connect({
      host: address,
      port: target.port,
      noDelay: true,
      ...(target.secure ? {} : { onread: readInto(inlet) }),
    });
    openSockets += 1;
    socket.once('close', () => {
      openSockets -= 1;
    });
    const opened = await untilOpen(socket, stop, { connectMs, address });
    if (opened.kind === 'failed') return opened;
    if (!target.secure) return toDialled({ socket, tcp: socket, inlet }, address);
    secureContext ??= createSecureContext();
    const secured = await untilSecure(socket, stop, { target, secureContext });
    if (secured.kind === 'failed') return secured;
    secured.socket.on('data', (bytes: Buffer) => inlet.onBytes(bytes));
    return toDialled({ socket: secured.socket, tcp: socket, inlet }, address);
  }
  return {
    async dial(target, addresses, stop) {
      let last: Dialled = { kind: 'failed', failure: CONNECT_FAILED };
      for (const address of addresses.slice(0, ADDRESSES_MAX)) {
        last = await open(target, address, stop);
        // The next address is tried only if there was no connection at all.
        if (last.kind === 'open' || last.failure !== CONNECT_FAILED || stop.reason()) return last;
      }
      return last;
    },
    openSockets: () => openSockets,
  };
}

function readInto(inlet: Inlet): NonNullable<TcpNetConnectOpts['onread']> {
  return {
    buffer: READ_BUFFER,
    callback: (count) => {
      inlet.onBytes(READ_BUFFER.subarray(0, count));
      return true;
    },
  };
}

function untilOpen(
  socket: Socket,
  stop: Stop,
  { connectMs, address }: { connectMs: number; address: string },
): Promise<Opened> {
  return settleOnce(socket, stop, (settle) => {
    const timer = setTimeout(settle, connectMs, failed(CONNECT_FAILED));
    socket.on('error', (error) => settle(failed(connectFailure(error))));
    socket.on('close', () => {
      clearTimeout(timer);
      settle(failed(CONNECT_FAILED));
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      settle(isPeer(socket, address) ? { kind: 'open', socket } : failed(URL_REFUSED));
    });
  });
}

function untilSecure(
  plain: Socket,
  stop: Stop,
  { target, secureContext }: { target: UrlTarget; secureContext: SecureContext },
): Promise<Opened> {
  const socket = connectTls({
    socket: plain,
    host: target.host,
    // The server name of the handshake cannot be an address; the certificate is still checked against the host.
    servername: target.isLiteral ? '' : target.host,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Explicit, because an environment variable can change the default.
    rejectUnauthorized: true,
  });
  return settleOnce(plain, stop, (settle) => {
    socket.on('error', (error) => settle(failed(connectionFailure(error, true))));
    socket.on('close', () => settle(failed(CONNECTION_RESET)));
    socket.once('secureConnect', () => settle({ kind: 'open', socket }));
  });
}

/** The first outcome counts; a socket that failed is reset. */
function settleOnce(tcp: Socket, stop: Stop, listen: (settle: Settle) => void): Promise<Opened> {
  return new Promise((resolve) => {
    let isSettled = false;
    const settle: Settle = (outcome) => {
      if (isSettled) return;
      isSettled = true;
      stop.onStop(null);
      if (outcome.kind === 'failed') reset(tcp);
      resolve(outcome);
    };
    listen(settle);
    stop.onStop((reason) => settle(failed(reason)));
  });
}

/** Checks that the system connected to the requested address. */
function isPeer(socket: Socket, address: string): boolean {
  const requested = parseAddress(address);
  const peer = parseAddress(socket.remoteAddress ?? '');
  return requested !== null && peer !== null && isSameAddress(requested, peer);
}

function failed(failure: Failure): Failed {
  return { kind: 'failed', failure };
}

function toDialled(sockets: ConnectionSockets, address: string): Dialled {
  return { kind: 'open', connection: createConnection(sockets, address) };
}
