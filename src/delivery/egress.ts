/** Opens connections to addresses that the policy allowed, and to nothing else. */

import { connect as connectTcp, Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { UrlTarget } from '../domain/endpoints/url-policy.ts';
import { isSameAddress, parseAddress } from '../domain/public-address.ts';
import type { Stop } from './attempt-stop.ts';
import { CONNECT_FAILED, CONNECTION_RESET, type Failure, NO_SOCKET } from './failure.ts';
import { type Connection, createConnection, type Inlet, reset } from './http-connection.ts';
import { READ_MAX_BYTES } from './http-response.ts';
import { connectFailure, connectionFailure, URL_REFUSED } from './http-verdict.ts';

export type EgressDeps = {
  readonly connectMs: number;
  /** The only source of sockets. */
  readonly connect?: (options: TcpNetConnectOpts) => Socket;
  /** The trusted certificates; by default those of Node, with NODE_EXTRA_CA_CERTS. */
  readonly secureContext?: SecureContext;
};

/** The first outcome counts. */
type Settle = (outcome: Socket | Failure) => void;

const ADDRESSES_MAX = 4;

/** All sockets read into this buffer: each read is consumed before the next one starts. */
const READ_BUFFER = Buffer.alloc(READ_MAX_BYTES);

export function createEgress({ connectMs, connect = connectTcp, ...deps }: EgressDeps) {
  // Created on first use, because reading all certificates is slow.
  let secureContext = deps.secureContext;
  let openSockets = 0;

  async function open(target: UrlTarget, address: string, stop: Stop): Promise<Connection | Failure> {
    const inlet: Inlet = { onBytes: () => {} };
    const tcp = connect({
      host: address,
      port: target.port,
      noDelay: true,
      ...(target.secure ? {} : { onread: readInto(inlet) }),
    });
    openSockets += 1;
    tcp.once('close', () => {
      openSockets -= 1;
    });
    const opened = await untilOpen(tcp, stop, { connectMs, address });
    if (!(opened instanceof Socket)) return opened;
    if (!target.secure) return createConnection({ socket: tcp, tcp, inlet }, address);
    secureContext ??= createSecureContext();
    const socket = await untilSecure(tcp, stop, { target, secureContext });
    if (!(socket instanceof Socket)) return socket;
    socket.on('data', (bytes: Buffer) => inlet.onBytes(bytes));
    return createConnection({ socket, tcp, inlet }, address);
  }
  return {
    /** Tries the addresses in order. The caller MUST have checked them against the policy; they are not names. */
    async dial(target: UrlTarget, addresses: readonly string[], stop: Stop): Promise<Connection | Failure> {
      let failed: Failure | null = null;
      for (const address of addresses.slice(0, ADDRESSES_MAX)) {
        const opened = await open(target, address, stop);
        // The next address is tried only if there was no connection at all.
        if ((opened !== CONNECT_FAILED && opened !== NO_SOCKET) || stop.reason()) return opened;
        // One address that refuses says something about the receiver, whatever this machine lacked for the others.
        failed = failed === CONNECT_FAILED ? failed : opened;
      }
      return failed ?? CONNECT_FAILED;
    },
    /** Sockets that are not closed, including those still connecting. */
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
): Promise<Socket | Failure> {
  return settleOnce(socket, stop, (settle) => {
    const timer = setTimeout(settle, connectMs, CONNECT_FAILED);
    socket.on('error', (error) => settle(connectFailure(error, address)));
    socket.on('close', () => {
      clearTimeout(timer);
      settle(CONNECT_FAILED);
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      settle(isPeer(socket, address) ? socket : URL_REFUSED);
    });
  });
}

function untilSecure(
  plain: Socket,
  stop: Stop,
  { target, secureContext }: { target: UrlTarget; secureContext: SecureContext },
): Promise<Socket | Failure> {
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
    socket.on('error', (error) => settle(connectionFailure(error, true)));
    socket.on('close', () => settle(CONNECTION_RESET));
    socket.once('secureConnect', () => settle(socket));
  });
}

/** A socket that failed is reset. */
function settleOnce(tcp: Socket, stop: Stop, listen: (settle: Settle) => void): Promise<Socket | Failure> {
  return new Promise((resolve) => {
    let isSettled = false;
    const settle: Settle = (outcome) => {
      if (isSettled) return;
      isSettled = true;
      stop.onStop(null);
      if (!(outcome instanceof Socket)) reset(tcp);
      resolve(outcome);
    };
    listen(settle);
    stop.onStop(settle);
  });
}

/** Checks that the system connected to the requested address. */
function isPeer(socket: Socket, address: string): boolean {
  const requested = parseAddress(address);
  const peer = parseAddress(socket.remoteAddress ?? '');
  return requested !== null && peer !== null && isSameAddress(requested, peer);
}
