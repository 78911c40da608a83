/**
 * Sends several prepared statements as one message, and gets one answer for all of them: a process that stores much
 * spends more on each message than on most statements. Their rows are not read.
 */

import type { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Statement } from './pool.ts';

/** Text, or bytes in the binary format of the parameter's type. */
type Parameter = string | Buffer | null;

/** A statement whose answer nobody waits for. */
export type Posted = { readonly statement: Statement; readonly parameters: readonly Parameter[] };

/** What the client library passes to a query of one's own. Its published types are older. */
type Connection = EventEmitter & {
  readonly stream: { cork(): void; uncork(): void };
  parse(prepared: { readonly name: string; readonly text: string }): void;
  bind(bound: { readonly statement: string; readonly values: readonly Parameter[] }): void;
  execute(): void;
  sync(): void;
};

// Statements that return rows are prepared by the client library itself, under their plain names.
const PREFIX = 'post ';

/** The statements that are prepared on each connection. */
const prepared = new WeakMap<pg.ClientBase, Set<string>>();

export function toPosted(statement: Statement, values: readonly unknown[]): Posted {
  return { statement, parameters: values.map(toParameter) };
}

function toParameter(value: unknown): Parameter {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw new Error('a parameter has a type that the database does not take');
}

/**
 * Rejects with the first failure; the statements after it do not run. The answers come in the order in which everything
 * was sent, so the first promise that rejects has the cause.
 */
export function sendTogether(client: pg.ClientBase, posted: readonly Posted[]): readonly Promise<void>[] {
  const names = prepared.get(client) ?? new Set();
  prepared.set(client, names);
  const sent: Promise<void>[] = [];
  for (const { statement } of posted) {
    if (names.has(statement.name)) continue;
    names.add(statement.name);
    const answer = send(client, (connection) => {
      connection.parse({ name: PREFIX + statement.name, text: statement.text });
    });
    answer.catch(() => names.delete(statement.name));
    sent.push(answer);
  }
  sent.push(
    send(client, (connection) => {
      for (const { statement, parameters } of posted) {
        connection.bind({ statement: PREFIX + statement.name, values: parameters });
        connection.execute();
      }
    }),
  );
  return sent;
}

function send(client: pg.ClientBase, write: (connection: Connection) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = createQuery(write);
    // The client calls it back, and replaces it to add its time limit.
    query.callback = (error) => (error === null ? resolve() : reject(error));
    client.query(query as unknown as pg.Submittable);
  });
}

type Callback = (error: Error | null) => void;

/** The methods by which the client library hands over what the database answers, up to the end or the first error. */
function createQuery(write: (connection: Connection) => void) {
  return {
    callback: (() => undefined) as Callback,
    submit(connection: Connection): Error | null {
      connection.stream.cork();
      try {
        write(connection);
        connection.sync();
        return null;
      } finally {
        connection.stream.uncork();
      }
    },
    handleError(error: Error): void {
      this.callback(error);
    },
    handleReadyForQuery(): void {
      this.callback(null);
    },
    handleRowDescription: ignore,
    handleDataRow: ignore,
    handleCommandComplete: ignore,
    handleEmptyQuery: ignore,
  };
}

function ignore(): void {
  // Nobody reads the rows.
}
