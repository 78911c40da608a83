/**
 * Tells whoever delivers that there may be something to do: those in this process at once, those in others through the
 * database. What the database tells can be lost, so nobody may depend on it: it only makes things happen sooner.
 */

import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import pg from 'pg';
import type { Lane, Statement } from './connection.ts';

export type WakeUps = {
  listen(wake: () => void): () => void;
  /** To be called after a commit that those who deliver may care about. */
  notify(): void;
  close(): Promise<void>;
};

export type WakeUpsDeps = { readonly url: string; readonly lane: Lane };

const CHANNEL = 'spandrel_deliveries';
// Many commits are told as one.
const NOTIFY_INTERVAL_MS = 50;
const RECONNECT_DELAY_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
// There is nothing to keep, so nobody has to wait for the disk.
const NOTIFY: Statement = {
  name: 'wake-deliveries',
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', $1)`,
};

export function createWakeUps({ url, lane }: WakeUpsDeps): WakeUps {
  const self = randomUUID();
  const listeners = new Set<() => void>();
  let isClosed = false;
  const wakeAll = () => {
    for (const wake of [...listeners]) wake();
  };
  const tell = createPaced(() => {
    lane.ask(NOTIFY, [self]).catch(() => undefined);
  }, NOTIFY_INTERVAL_MS);
  const others = createListener(url, (sender) => {
    if (sender !== self) wakeAll();
  });

  return {
    listen(wake) {
      // Two who listen with the same function are two.
      const own = () => wake();
      if (!isClosed) {
        listeners.add(own);
        others.open();
      }
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) void others.close();
      };
    },
    notify() {
      wakeAll();
      tell.call();
    },
    async close() {
      isClosed = true;
      listeners.clear();
      tell.stop();
      await others.close();
    },
  };
}

/** Calls soon after it was asked to, never twice within the interval. */
function createPaced(call: () => void, intervalMs: number): { call(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  let isWanted = false;

  function run(): void {
    isWanted = false;
    timer = setTimeout(() => {
      timer = null;
      if (isWanted) run();
    }, intervalMs);
    timer.unref();
    call();
  }

  return {
    call() {
      if (timer === null) run();
      else isWanted = true;
    },
    stop() {
      isWanted = false;
    },
  };
}

type Listener = { open(): void; close(): Promise<void> };

/** A connection of its own that hears of others; lost, it comes back by itself. Keeps no process alive. */
function createListener(url: string, tell: (sender: string | null) => void): Listener {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;

  function open(): void {
    if (client !== null || timer !== undefined) return;
    const opened = new pg.Client({
      connectionString: url,
      application_name: 'spandrel listen',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      stream: openUnseenSocket,
    });
    client = opened;
    const lose = () => {
      if (client !== opened) return;
      client = null;
      opened.end().catch(() => undefined);
      timer = setTimeout(() => {
        timer = undefined;
        open();
      }, RECONNECT_DELAY_MS);
      timer.unref();
    };
    opened.on('error', lose);
    opened.on('end', lose);
    opened.on('notification', ({ payload }) => tell(payload ?? null));
    connect(opened).then(() => tell(null), lose);
  }

  async function close(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const closed = client;
    client = null;
    await closed?.end().catch(() => undefined);
  }

  return { open, close };
}

/** Who listens from now on has missed what was told before. */
async function connect(client: pg.Client): Promise<void> {
  await client.connect();
  await client.query(`LISTEN ${CHANNEL}`);
}

/** One that keeps no process alive. */
function openUnseenSocket(): Socket {
  const socket = new Socket();
  socket.unref();
  return socket;
}
