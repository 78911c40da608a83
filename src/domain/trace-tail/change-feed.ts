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

/** The same store, which notes what it changes: every verb of the port that changes what is shown of a trace. */
export function noteChanges(store: Store, { note }: Pick<ChangeFeed, 'note'>): Store {
  const { traces, traceChanges, evaluationJobs, repricing } = store;
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
    evaluationJobs: {
      ...evaluationJobs,
      async end(jobEnd) {
        const recorded = await evaluationJobs.end(jobEnd);
        if (recorded === 'recorded' && jobEnd.outcome.kind === 'store') note(jobEnd.outcome.append);
        return recorded;
      },
    },
    repricing: {
      ...repricing,
      async reprice(wish) {
        const repriced = await repricing.reprice(wish);
        for (const { traceId } of wish.traces) note({ projectNumber: wish.projectNumber, traceId });
        return repriced;
      },
    },
  };
}
