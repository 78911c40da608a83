/**
 * A proxy between a server and PostgreSQL. It parses message boundaries and fails on command as networks do: it cuts
 * connections, falls silent, or loses the answer to a commit.
 */

import { connect, createServer, type Socket } from 'node:net';

export type DatabaseProxy = {
  /** The address of the database through the proxy. */
  readonly url: string;
  /** The number of open connections. */
  readonly connections: number;
  /** After the next commit of an append, cuts its connection instead of forwarding the answer; then resolves. */
  loseCommitAnswer(): Promise<void>;
  /** Cuts every connection. */
  cut(): void;
  /** Forwards nothing until `speak`, which forwards the held bytes. */
  fallSilent(): void;
  speak(): void;
  /** Silences the open connections for ever without closing them; new ones work. */
  dropSilently(): void;
  close(): Promise<void>;
};

type Pair = { readonly client: Socket; readonly database: Socket };

/** The start of a Bind message for the prepared insert of new spans, which every append of a new trace sends. */
const BIND_APPEND = '\0post append.insertSpans\0';

export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  let isSilent = false;
  let onLoss: (() => void) | null = null;

  const server = createServer({ pauseOnConnect: true }, (client) => {
    const database = connect(Number(target.port), target.hostname);
    const pair = { client, database };
    pairs.add(pair);
    for (const socket of [client, database]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => cutPair(pair));
    }
    join(pair);
    if (isSilent) pause(pair);
    else client.resume();
  });

  function join({ client, database }: Pair): void {
    let isAppending = false;
    let isCommitted = false;
    const readQuestions = createFrameReader(true, (type, body) => {
      if (type === 'B' && startsWith(body, BIND_APPEND)) isAppending = true;
    });
    const readAnswers = createFrameReader(false, (type, body) => {
      if (type === 'C' && startsWith(body, 'COMMIT')) isCommitted = isAppending;
      if (type === 'C' && startsWith(body, 'ROLLBACK')) isAppending = false;
      // Idle outside a transaction: the commit is done.
      if (type !== 'Z' || !isCommitted || body.toString('latin1') !== 'I') return;
      isAppending = false;
      isCommitted = false;
      if (onLoss === null) return;
      cutPair({ client, database });
      onLoss();
      onLoss = null;
    });
    client.on('data', (chunk) => {
      readQuestions(chunk);
      database.write(chunk);
    });
    database.on('data', (chunk) => {
      readAnswers(chunk);
      if (!client.destroyed) client.write(chunk);
    });
  }

  function cutPair(pair: Pair): void {
    pair.client.destroy();
    pair.database.destroy();
    for (const known of pairs) if (known.client === pair.client) pairs.delete(known);
  }

  function cut(): void {
    for (const pair of [...pairs]) cutPair(pair);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: url.href,
    get connections() {
      return pairs.size;
    },
    loseCommitAnswer: () =>
      new Promise((resolve) => {
        onLoss = resolve;
      }),
    cut,
    fallSilent() {
      isSilent = true;
      for (const pair of pairs) pause(pair);
    },
    speak() {
      isSilent = false;
      for (const { client, database } of pairs) {
        client.resume();
        database.resume();
      }
    },
    dropSilently() {
      for (const pair of pairs) pause(pair);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
  };
}

function pause({ client, database }: Pair): void {
  client.pause();
  database.pause();
}

function startsWith(body: Buffer, text: string): boolean {
  return body.toString('latin1', 0, text.length) === text;
}

type OnFrame = (type: string, body: Buffer) => void;

const LENGTH_BYTES = 4;
const HEAD_BYTES = 1 + LENGTH_BYTES;

/** Calls `onFrame` per message but a client's first, which has no type. */
function createFrameReader(isClient: boolean, onFrame: OnFrame): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = isFirst ? LENGTH_BYTES : HEAD_BYTES;
      if (rest.length < head) return;
      const end = head - LENGTH_BYTES + rest.readInt32BE(head - LENGTH_BYTES);
      if (rest.length < end) return;
      if (!isFirst) onFrame(rest.toString('latin1', 0, 1), rest.subarray(head, end));
      isFirst = false;
      rest = rest.subarray(end);
    }
  };
}
