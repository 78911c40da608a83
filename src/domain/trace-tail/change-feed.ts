/** Tells of traces that this process has changed, as soon as that is committed. */

import type { Store } from '../store.ts';

export type ChangedTrace = { readonly projectNumber: number; readonly traceId: string };

export type ChangeFeed = {
  note(change: ChangedTrace): void;
  /** Calls with every change of the project, until what is answered is called. */
  listen(projectNumber: number, onChange: (traceId: string) => void): () => void;
};

export function createChangeFeed(): ChangeFeed {
  const listeners = new Map<number, (traceId: string) => void>();
  return {
    note: ({ projectNumber, traceId }) => listeners.get(projectNumber)?.(traceId),
    listen(projectNumber, onChange) {
      if (listeners.has(projectNumber)) throw new Error('a project has one listener');
      listeners.set(projectNumber, onChange);
      return () => void listeners.delete(projectNumber);
    },
  };
}

/** The same store, which notes what it changes. */
export function noteChanges(store: Store, { note }: Pick<ChangeFeed, 'note'>): Store {
  const { traces, traceChanges } = store;
  return {
    ...store,
    traces: {
      ...traces,
      async append(append) {
        const appended = await traces.append(append);
        note(append);
        return appended;
      },
      async appendBatch(batch) {
        const appended = await traces.appendBatch(batch);
        for (const append of batch.appends) note(append);
        return appended;
      },
    },
    traceChanges: {
      ...traceChanges,
      async patchMetadata(trace, patch, nowMs) {
        const outcome = await traceChanges.patchMetadata(trace, patch, nowMs);
        note(trace);
        return outcome;
      },
    },
  };
}
