/** What a driver hands to the conformance suite. */

import type { Store } from '../../../src/domain/store.ts';

export type Subject = {
  readonly store: Store;
  /** Runs one SQL statement, standing in for management verbs that the port does not have. */
  execute(sql: string): void | Promise<void>;
  /** A literal of the bytes in the SQL that `execute` takes. */
  bytes(hex: string): string;
  /** Closes the store and removes what it left. */
  dispose(): Promise<void>;
};

/** A fresh, empty store. */
export type OpenSubject = () => Promise<Subject>;

/** Runs a body on a fresh store and always takes it down again. */
export function withStore(
  open: OpenSubject,
  body: (store: Store, subject: Subject) => Promise<void>,
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

/** What is changed behind the store's back is seen once the answers kept before are too old. */
export function createTestTime(): { nowMs(): number; pass(): void } {
  let passedMs = 0;
  return {
    nowMs: () => performance.now() + passedMs,
    pass: () => {
      passedMs += 60_000;
    },
  };
}
