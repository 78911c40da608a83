/** Keeps idle connections to receivers for the next attempt at the same destination. */

import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type PoolLimits = {
  readonly idleMaxMs: number;
  readonly perTargetMax: number;
  readonly totalMax: number;
};

/** What a request adds to the options of `node:http`. */
export type Pinned = {
  /** Only requests with equal keys share a connection. */
  readonly poolKey: string;
  /** Opens a connection if none is idle. Never rejects: the agent forgets a key only when a socket of it closes. */
  readonly dial: () => Promise<Socket>;
};

/** A request must not cross with the receiver closing the connection, so this process stops using it earlier. */
const MARGIN_MS = 500;

export class ReceiverAgent extends Agent {
  /** The oldest first. */
  private readonly idle = new Set<Duplex>();
  private readonly totalMax: number;

  constructor({ idleMaxMs, perTargetMax, totalMax }: PoolLimits) {
    super({
      keepAlive: true,
      timeout: idleMaxMs,
      agentKeepAliveTimeoutBuffer: MARGIN_MS,
      maxFreeSockets: perTargetMax,
    });
    this.totalMax = totalMax;
  }

  override getName(options: ClientRequestArgs & Partial<Pinned>): string {
    return options.poolKey ?? super.getName(options);
  }

  override createConnection(
    { dial }: ClientRequestArgs & Partial<Pinned>,
    onDone: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    dial?.().then((socket) => {
      socket.once('close', () => this.idle.delete(socket));
      onDone(null, socket);
    });
  }

  /** Whether the connection stays open. */
  override keepSocketAlive(socket: Duplex): boolean {
    // The method of the class returns this; its type says void.
    const isKept: unknown = super.keepSocketAlive(socket);
    if (isKept !== true) return false;
    // A destination with many idle connections must not keep others from having one: the oldest makes room.
    const [oldest] = this.idle;
    if (oldest && this.idle.size >= this.totalMax) close(this.idle, oldest);
    this.idle.add(socket);
    return true;
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    this.idle.delete(socket);
    super.reuseSocket(socket, request);
  }

  /** Closes the idle connections with this key. */
  closeIdle(poolKey: string): void {
    for (const socket of [...(this.freeSockets[poolKey] ?? [])]) close(this.idle, socket);
  }

  /** Idle connections that are open. */
  idleCount(): number {
    return this.idle.size;
  }
}

function close(idle: Set<Duplex>, socket: Duplex): void {
  idle.delete(socket);
  socket.destroy();
}
