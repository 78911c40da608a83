import Database from 'better-sqlite3';

type Row = { readonly id: string; readonly body: string | Uint8Array };
type Waiting = { readonly rows: readonly Row[]; readonly done: () => void };

/** Calls `done` once the rows are on disk. Rows added during a commit form the next one. */
export type Committer = { add(rows: readonly Row[], done: () => void): void };

/** The minimal durable store: one table, one random unique id per row, one transaction per group. */
export function createCommitter(path: string): Committer {
  const db = openDurable(path);
  db.exec('CREATE TABLE item (id TEXT PRIMARY KEY, body NOT NULL)');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const insert = db.prepare<[string, string | Uint8Array]>('INSERT INTO item (id, body) VALUES (?, ?)');
  const commit = db.prepare('COMMIT');
  let waiting: Waiting[] = [];

  function flush(): void {
    const group = waiting;
    waiting = [];
    begin.run();
    for (const { rows } of group) for (const { id, body } of rows) insert.run(id, body);
    commit.run();
    for (const { done } of group) done();
  }

  return {
    add(rows, done) {
      // setImmediate runs after all readable sockets were read; their rows form the group.
      if (waiting.push({ rows, done }) === 1) setImmediate(flush);
    },
  };
}

/** Checks durability: a reference that loses rows in a power cut is not comparable. */
export function openDurable(path: string): Database.Database {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  // This build lowers `synchronous` with the first statement in WAL mode, so it is read back after one.
  db.pragma('synchronous = FULL');
  db.prepare('SELECT count(*) FROM sqlite_schema').get();
  const synchronous = db.pragma('synchronous', { simple: true });
  const journal = db.pragma('journal_mode', { simple: true });
  if (synchronous !== 2 || journal !== 'wal') throw new Error(`Not durable: ${journal}, synchronous=${synchronous}.`);
  return db;
}
