/** The end of each organization's log while one transaction adds to it. */

import type { Clock } from '../../domain/clock.ts';
import type { Database } from './connection.ts';

/** Where the log of an organization ends. */
export type LogHead = {
  readonly organizationNumber: number;
  seq: number;
  createdAtMs: number;
  /** The furthest of the keys, counted from 0, under which any request of the organization was ever kept. */
  lastKeyIndex: number;
};

export type LogHeads = {
  /** The head of an organization; what is changed in it is kept by `flush`. */
  take(organizationNumber: number): LogHead;
  flush(): void;
};

type Row = { readonly seq: number; readonly createdAtMs: number; readonly lastKeyIndex: number };

/** Answers a function that begins a transaction's view of the heads. */
export function prepareLogHeads(db: Database, clock: Clock): () => LogHeads {
  const find = db.prepare<[number], Row>(
    'SELECT seq, created_at AS createdAtMs, last_key_index AS lastKeyIndex FROM log_heads WHERE organization_number = ?',
  );
  const store = db.prepare<[number, number, number, number]>(
    'INSERT OR REPLACE INTO log_heads (organization_number, seq, created_at, last_key_index) VALUES (?, ?, ?, ?)',
  );
  return () => {
    const nowMs = clock();
    const taken = new Map<number, LogHead>();
    const before = new Map<number, LogHead>();
    return {
      take(organizationNumber) {
        const known = taken.get(organizationNumber);
        if (known !== undefined) return known;
        const row = find.get(organizationNumber);
        const head: LogHead = {
          organizationNumber,
          seq: row?.seq ?? 0,
          // Time never runs backwards in a log, whatever the clock does.
          createdAtMs: Math.max(nowMs, row?.createdAtMs ?? 0),
          lastKeyIndex: row?.lastKeyIndex ?? 0,
        };
        taken.set(organizationNumber, head);
        before.set(organizationNumber, { ...head });
        return head;
      },
      flush() {
        for (const head of taken.values()) {
          const known = before.get(head.organizationNumber);
          if (head.seq === known?.seq && head.lastKeyIndex === known.lastKeyIndex) continue;
          store.run(head.organizationNumber, head.seq, head.createdAtMs, head.lastKeyIndex);
        }
      },
    };
  };
}
