/** Publishes traces changed by this process as soon as they are committed. */

import type { Store } from '../../store.ts';

type ChangedTrace = { readonly projectNumber: number; readonly traceId: string };

export type ChangeFeed = ReturnType<typeof createChangeFeed>;

export function createChangeFeed() {
  const listeners = new Map<number, (traceId: string) => void>();
  return {
    publish: ({ projectNumber, traceId }: ChangedTrace): void => listeners.get(projectNumber)?.(traceId),
    /** Listens to changes of the project until the returned function is called. */
    listen(projectNumber: number, onChange: (traceId: string) => void): () => void {
      if (listeners.has(projectNumber)) throw new Error('a project has one listener');
      listeners.set(projectNumber, onChange);
      return () => void listeners.delete(projectNumber);
    },
  };
}

/** Wraps the store so that every operation that changes the shown state of a trace publishes it. */
export function publishChanges(store: Store, { publish }: Pick<ChangeFeed, 'publish'>): Store {
  const { traces, traceChanges, feedback, annotations, evaluationJobs, repricing, requests } = store;
  return {
    ...store,
    traces: {
      ...traces,
      async append(append) {
        const appended = await traces.append(append);
        publish(append);
        return appended;
      },
    },
    requests: {
      ...requests,
      async conclude(outcome) {
        const reported = await requests.conclude(outcome);
        if (outcome.trace !== null) publish(outcome.trace);
        return reported;
      },
    },
    traceChanges: {
      ...traceChanges,
      async patchMetadata(trace, patch, nowMs) {
        const outcome = await traceChanges.patchMetadata(trace, patch, nowMs);
        publish(trace);
        return outcome;
      },
    },
    feedback: {
      ...feedback,
      async record(recording) {
        const outcome = await feedback.record(recording);
        publish({ projectNumber: recording.projectNumber, traceId: recording.event.traceId });
        return outcome;
      },
    },
    annotations: {
      ...annotations,
      async insert(write) {
        const outcome = await annotations.insert(write);
        publish({ projectNumber: write.projectNumber, traceId: write.annotation.traceId });
        return outcome;
      },
      async replace(write) {
        const outcome = await annotations.replace(write);
        publish({ projectNumber: write.projectNumber, traceId: write.annotation.traceId });
        return outcome;
      },
    },
    evaluationJobs: {
      ...evaluationJobs,
      async end(jobEnd) {
        const recorded = await evaluationJobs.end(jobEnd);
        if (recorded === 'recorded' && jobEnd.outcome.kind === 'store') publish(jobEnd.outcome.append);
        return recorded;
      },
    },
    repricing: {
      ...repricing,
      async reprice(request) {
        const repriced = await repricing.reprice(request);
        for (const { traceId } of request.traces) publish({ projectNumber: request.projectNumber, traceId });
        return repriced;
      },
    },
  };
}
