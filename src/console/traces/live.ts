/** The traces that change while the list is open. Pauses while the tab is hidden. */

import { createClient } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { type FollowState, followTraces } from './follow.ts';
import { createLiveTraces } from './live-traces.ts';
import type { toFilterInput } from './search-input.ts';

type LiveRequest = ReturnType<typeof toFilterInput>;

export type Live = {
  readonly state: FollowState | 'paused' | 'off';
  readonly error: unknown;
  readonly traces: ReadonlyMap<string, Trace>;
  /** A lower bound of the dropped changes. */
  readonly leftOut: number;
  readonly clear: () => void;
};

const UPDATE_INTERVAL_MS = 250;
const NO_TRACES: ReadonlyMap<string, Trace> = new Map();

/** `request` is null while live is off. A new object restarts the stream. */
export function useLive(request: LiveRequest | null, onBegin: () => void): Live {
  const transport = useTransport();
  const isSeen = useIsVisible();
  const [status, setStatus] = useState<{ state: Live['state']; error: unknown }>({ state: 'off', error: null });
  const [shown, setShown] = useState({ traces: NO_TRACES, leftOut: 0 });
  const buffer = useRef(createLiveTraces());
  const begin = useRef(onBegin);
  useEffect(() => {
    begin.current = onBegin;
  });
  const clear = useCallback(() => {
    buffer.current = createLiveTraces();
    setShown({ traces: NO_TRACES, leftOut: 0 });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new request clears the traces of the old one.
  useEffect(clear, [request, transport, clear]);
  useEffect(() => {
    if (request === null || !isSeen) {
      setStatus({ state: request === null ? 'off' : 'paused', error: null });
      return;
    }
    const left = new AbortController();
    const client = createClient(TraceService, transport);
    void followTraces(
      {
        open: (lastEventId, signal) => client.tailTraces({ ...request, lastEventId }, { signal }),
        wait,
        random: Math.random,
        onBegin: () => begin.current(),
        onTrace: (trace) => buffer.current.add(trace),
        onLeftOut: (count) => buffer.current.leaveOut(count),
        onState: (state, error) => !left.signal.aborted && setStatus({ state, error }),
      },
      left.signal,
    );
    // Renders changes in batches, however fast they come.
    const timer = setInterval(() => {
      const snapshot = buffer.current.readChanged();
      if (snapshot !== null) setShown(snapshot);
    }, UPDATE_INTERVAL_MS);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [request, transport, isSeen]);
  return { ...status, ...shown, clear };
}

function useIsVisible(): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    const update = () => setSeen(!document.hidden);
    document.addEventListener('visibilitychange', update);
    return () => document.removeEventListener('visibilitychange', update);
  }, []);
  return isSeen;
}

function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener('abort', stop);
    resolve();
  }, delayMs);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return promise;
}
