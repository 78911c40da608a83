/** Opens connections to addresses that were vetted, and to nothing else. */

import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { isSameAddress, parseAddress } from '../domain/public-address.ts';
import type { UrlTarget } from '../domain/url-policy.ts';
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
  /** The only place where sockets come from. */
  readonly connect?: (options: TcpNetConnectOpts) => Socket;
  /** The certificates to trust; by default those of Node, NODE_EXTRA_CA_CERTS included. */
  readonly secureContext?: SecureContext;
};

export type Egress = {
  /** Tries the addresses in their order. They must be vetted, and no names. */
  readonly dial: (target: UrlTarget, addresses: readonly string[], stop: Stop) => Promise<Dialled>;
  /** Sockets that are not closed yet, those that are still being connected included. */
  readonly openSockets: () => number;
};

export type Dialled = { readonly kind: 'open'; readonly connection: Connection } | Failed;

type Failed = { readonly kind: 'failed'; readonly failure: Failure };
type Opened = { readonly kind: 'open'; readonly socket: Socket } | Failed;
type Settle = (outcome: Opened) => void;

const ADDRESSES_MAX = 4;

/** All sockets read into the same memory: what they bring is used up before the next one reads. */
const READ_BUFFER = Buffer.alloc(READ_MAX_BYTES);

export function createEgress({ connectMs, connect = connectTcp, ...deps }: EgressDeps): Egress {
  // Made when it is first needed: reading all the certificates takes a while.
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
        // Only where there was no connection at all does the next address have a say.
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
    // Addresses have no place in this field of the handshake; the certificate is still held against the host.
    servername: target.isLiteral ? '' : target.host,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Said aloud, because the environment can turn the default off.
    rejectUnauthorized: true,
  });
  return settleOnce(plain, stop, (settle) => {
    socket.on('error', (error) => settle(failed(connectionFailure(error, true))));
    socket.on('close', () => settle(failed(CONNECTION_RESET)));
    socket.once('secureConnect', () => settle({ kind: 'open', socket }));
  });
}

/** The first outcome counts; a socket that did not make it is gone. */
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

/** The system was asked for this very address; that it also went there is not taken on trust. */
function isPeer(socket: Socket, address: string): boolean {
  const asked = parseAddress(address);
  const peer = parseAddress(socket.remoteAddress ?? '');
  return asked !== null && peer !== null && isSameAddress(asked, peer);
}

function failed(failure: Failure): Failed {
  return { kind: 'failed', failure };
}

function toDialled(sockets: ConnectionSockets, address: string): Dialled {
  return { kind: 'open', connection: createConnection(sockets, address) };
}
