/**
 * Notifies dispatchers that there may be deliveries: those of this process directly, those of others through LISTEN and
 * NOTIFY. Notifications can be lost: they only make deliveries start sooner.
 */

import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import pg from 'pg';
import { connectionOf } from './address.ts';
import type { Pool, Statement } from './pool.ts';
import { connectionName } from './processes.ts';

type WakeUpsDeps = { readonly url: string; readonly pool: Pool };

const CHANNEL = 'spandrel_deliveries';
// Several commits share one notification.
const NOTIFY_INTERVAL_MS = 50;
const RECONNECT_DELAY_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
// The statement stores nothing, so it need not wait for the disk.
const NOTIFY: Statement = {
  name: 'wake-deliveries',
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', $1)`,
};

export function createWakeUps({ url, pool }: WakeUpsDeps) {
  const self = randomUUID();
  const listeners = new Set<() => void>();
  let isClosed = false;
  const wakeAll = () => {
    for (const wake of [...listeners]) wake();
  };
  const notifyOthers = createThrottled(() => {
    pool.runStatement(NOTIFY, [self]).catch(() => undefined);
  }, NOTIFY_INTERVAL_MS);
  const others = createListener(url, (sender) => {
    if (sender !== self) wakeAll();
  });

  return {
    listen(wake: () => void): () => void {
      // The same function may be registered twice.
      const listener = () => wake();
      if (!isClosed) {
        listeners.add(listener);
        others.open();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) void others.close();
      };
    },
    /** Call after a commit that may have made deliveries due. */
    notify(): void {
      wakeAll();
      notifyOthers.call();
    },
    async close(): Promise<void> {
      isClosed = true;
      listeners.clear();
      notifyOthers.stop();
      await others.close();
    },
  };
}

/** Runs `call` soon, at most once per interval. */
function createThrottled(call: () => void, intervalMs: number) {
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
    call(): void {
      if (timer === null) run();
      else isWanted = true;
    },
    stop(): void {
      isWanted = false;
    },
  };
}

/** Listens on a connection of its own and reconnects when it is lost. Does not keep the process alive. */
function createListener(url: string, onNotification: (sender: string | null) => void) {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;

  function open(): void {
    if (client !== null || timer !== undefined) return;
    const opened = new pg.Client({
      ...connectionOf(url),
      application_name: connectionName('listen'),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      stream: openUnseenSocket,
    });
    client = opened;
    const reconnect = () => {
      if (client !== opened) return;
      client = null;
      opened.end().catch(() => undefined);
      timer = setTimeout(() => {
        timer = undefined;
        open();
      }, RECONNECT_DELAY_MS);
      timer.unref();
    };
    opened.on('error', reconnect);
    opened.on('end', reconnect);
    opened.on('notification', ({ payload }) => onNotification(payload ?? null));
    connect(opened).then(() => onNotification(null), reconnect);
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

/** Notifications before LISTEN are lost, so the caller notifies once afterwards. */
async function connect(client: pg.Client): Promise<void> {
  await client.connect();
  await client.query(`LISTEN ${CHANNEL}`);
}

/** A socket that does not keep the process alive. */
function openUnseenSocket(): Socket {
  const socket = new Socket();
  socket.unref();
  return socket;
}
