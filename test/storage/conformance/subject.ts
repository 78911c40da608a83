/** What a driver hands to the conformance suite. */

import type { Store } from '../../../src/domain/store.ts';

export type Subject = {
  readonly store: Store;
  /** Runs one SQL statement, standing in for management verbs that the port does not have. */
  execute(sql: string): void | Promise<void>;
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
