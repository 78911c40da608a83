/** The trace of a queue that a reviewer holds: claims it, renews the claim while the page is visible, and ends it. */

import { useMutation } from '@connectrpc/connect-query';
import { useEffect, useRef, useState } from 'react';
import { type AnnotationQueueItem, AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import { readFailure } from '../design/failure.tsx';
import { useRefresh } from '../session/refresh.ts';
import { isClaimLost, isRenewalDue } from './claim.ts';

const CHECK_INTERVAL_MS = 15_000;

type Claim = {
  readonly item: AnnotationQueueItem | null;
  /** The trace whose claim ended before the reviewer was done; null: none. */
  readonly lost: string | null;
  /** Of the last call; null without one. */
  readonly error: unknown;
};

const NONE: Claim = { item: null, lost: null, error: null };

export function useClaim(queueId: string) {
  const refresh = useRefresh();
  const [held, setHeld] = useState(NONE);
  const { claimAnnotationQueueItem, completeAnnotationQueueItem, releaseAnnotationQueueItem } =
    AnnotationQueueService.method;
  const set = async (next: Claim) => {
    setHeld(next);
    await refresh();
  };
  const onError = async (error: unknown) => {
    if (!isClaimLost(readFailure(error).code)) setHeld((now) => ({ ...now, error }));
    else await set({ ...NONE, lost: held.item?.traceId ?? null });
  };
  const claim = useMutation(claimAnnotationQueueItem, {
    onSuccess: ({ item = null }) => set({ ...NONE, item }),
    onError: (error) => set({ ...NONE, error }),
  });
  const next = () => claim.mutate({ id: queueId, resume: true });
  const complete = useMutation(completeAnnotationQueueItem, { onSuccess: next, onError });
  const release = useMutation(releaseAnnotationQueueItem, { onSuccess: () => set(NONE), onError });
  const isBusy = claim.isPending || complete.isPending || release.isPending;
  useRenewal(queueId, { item: held.item, isBusy, set });
  const named = { id: queueId, itemId: held.item?.id ?? '' };
  return { ...held, isBusy, next, finish: () => complete.mutate(named), giveBack: () => release.mutate(named) };
}

type Renewed = {
  readonly item: AnnotationQueueItem | null;
  /** Whether another call may change what is held. */
  readonly isBusy: boolean;
  readonly set: (claim: Claim) => Promise<void>;
};

/** The page stays usable meanwhile. A renewal that fails for another reason than that the claim ended is tried again. */
function useRenewal(queueId: string, renewed: Renewed): void {
  const now = useRef(renewed);
  useEffect(() => {
    now.current = renewed;
  });
  const { mutate } = useMutation(AnnotationQueueService.method.claimAnnotationQueueItem);
  const renew = () => {
    const { item, isBusy } = now.current;
    if (item === null || isBusy) return;
    // What came meanwhile is newer than this answer.
    const isOver = () => now.current.item?.id !== item.id || now.current.isBusy;
    const lose = (next: AnnotationQueueItem | null) =>
      void now.current.set({ item: next, lost: item.traceId, error: null });
    mutate(
      { id: queueId, resume: true },
      {
        // It had ended, and another reviewer took the trace, if this is the next one.
        onSuccess: ({ item: next = null }) => !isOver() && next?.id !== item.id && lose(next),
        onError: (error) => !isOver() && isClaimLost(readFailure(error).code) && lose(null),
      },
    );
  };
  useWhileVisible(renewed.item?.id ?? null, renew);
}

/** Calls `renew` now and then while something is held and the page is visible, and as it becomes visible again. */
function useWhileVisible(itemId: string | null, renew: () => void): void {
  const newest = useRef(renew);
  useEffect(() => {
    newest.current = renew;
  });
  useEffect(() => {
    if (itemId === null) return;
    let renewedAtMs = Date.now();
    const check = () => {
      const nowMs = Date.now();
      if (!isRenewalDue({ isVisible: document.visibilityState === 'visible', renewedAtMs, nowMs })) return;
      renewedAtMs = nowMs;
      newest.current();
    };
    const timer = setInterval(check, CHECK_INTERVAL_MS);
    document.addEventListener('visibilitychange', check);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', check);
    };
  }, [itemId]);
}
