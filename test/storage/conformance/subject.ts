/** The store under test, and access to its database. */

import type { Management } from '../../../src/domain/management/management-port.ts';
import type { Store } from '../../../src/domain/store.ts';

/** A row as the driver returns it. */
export type Row = { readonly [column: string]: unknown };

export type Subject<Port = Store> = {
  readonly store: Port;
  /** Runs a SQL statement for changes that the port does not offer. */
  execute(sql: string): void | Promise<void>;
  /** Reads rows that the port does not show. */
  read(sql: string): Promise<readonly Row[]>;
  /** A literal of bytes for the SQL of `execute`. */
  bytes(hex: string): string;
  /** Closes the store and removes its data. */
  dispose(): Promise<void>;
};

/** A fresh, empty store. */
export type OpenSubject<Port = Store> = () => Promise<Subject<Port>>;

/** One whose driver may serve management alone. */
export type OpenManagement = OpenSubject<Management>;

/** Runs a body on a fresh store and always takes it down again. */
export function withStore<Port>(
  open: OpenSubject<Port>,
  body: (store: Port, subject: Subject<Port>) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const subject = await open();
    try {
      await body(subject.store, subject);
    } finally {
      await subject.dispose();
    }
  };
}

/** Does all upkeep that there is. */
export async function keepUp({ upkeep }: Store): Promise<void> {
  for (const { step } of upkeep) while ((await step()) !== 'done');
}

/** A clock for caches: after `pass` they see changes made by SQL. */
export function createTestTime(): { nowMs(): number; pass(): void } {
  let passedMs = 0;
  return {
    nowMs: () => performance.now() + passedMs,
    pass: () => {
      passedMs += 60_000;
    },
  };
}
