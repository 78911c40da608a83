/** The traces that changed while one looks. Nobody is followed while the page is not seen. */

import { createClient } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Trace, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { type FollowState, followTraces } from './follow.ts';
import { createLiveTraces } from './live-traces.ts';

export type LiveRequest = {
  readonly query: string;
  readonly filtersJson?: string;
  readonly negateFilters?: boolean;
};

export type Live = {
  readonly state: FollowState | 'paused' | 'off';
  readonly error: unknown;
  readonly traces: ReadonlyMap<string, Trace>;
  /** Changes that are not among them, at least. */
  readonly leftOut: number;
  readonly forget: () => void;
};

const SHOWN_EVERY_MS = 250;
const NOTHING: ReadonlyMap<string, Trace> = new Map();

/** `request` is null while nothing is to be followed; else the same object as long as the same is followed. */
export function useLive(request: LiveRequest | null, onBegin: () => void): Live {
  const transport = useTransport();
  const isSeen = useIsSeen();
  const [status, setStatus] = useState<{ state: Live['state']; error: unknown }>({ state: 'off', error: null });
  const [shown, setShown] = useState({ traces: NOTHING, leftOut: 0 });
  const kept = useRef(createLiveTraces());
  const begin = useRef(onBegin);
  useEffect(() => {
    begin.current = onBegin;
  });
  const forget = useCallback(() => {
    kept.current = createLiveTraces();
    setShown({ traces: NOTHING, leftOut: 0 });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what another question told is forgotten.
  useEffect(forget, [request, transport, forget]);
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
        onTrace: (trace) => kept.current.add(trace),
        onLeftOut: (count) => kept.current.leaveOut(count),
        onState: (state, error) => !left.signal.aborted && setStatus({ state, error }),
      },
      left.signal,
    );
    // Several changes are shown together, however fast they come.
    const timer = setInterval(() => {
      const news = kept.current.take();
      if (news !== null) setShown(news);
    }, SHOWN_EVERY_MS);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [request, transport, isSeen]);
  return { ...status, ...shown, forget };
}

function useIsSeen(): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setSeen(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
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
