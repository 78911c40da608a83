/** How many things are done at once, and how many may wait for their turn. */

import { createWaitingLine } from '../pool/waiting-line.ts';

export type Places = {
  /** Resolves once there is a place, or says why there will be none. What was taken must be given back by `leave`. */
  take(owner: string, signal: AbortSignal): Promise<'taken' | 'full' | 'stopped'>;
  leave(): void;
};

export type PlacesOptions = {
  readonly placesMax: number;
  readonly waitingMax: number;
};

export function createPlaces({ placesMax, waitingMax }: PlacesOptions): Places {
  let taken = 0;
  const waiting = createWaitingLine<() => void>(waitingMax);
  return {
    take(owner, signal) {
      if (signal.aborted) return Promise.resolve('stopped');
      if (taken < placesMax) {
        taken += 1;
        return Promise.resolve('taken');
      }
      return new Promise((resolve) => {
        const enter = () => {
          signal.removeEventListener('abort', giveUp);
          resolve('taken');
        };
        const giveUp = () => {
          waiting.remove(owner, enter);
          resolve('stopped');
        };
        if (waiting.add(owner, enter)) signal.addEventListener('abort', giveUp, { once: true });
        else resolve('full');
      });
    },
    leave() {
      const next = waiting.next();
      if (next === undefined) {
        taken -= 1;
        return;
      }
      // The place goes from one to the next without being free in between.
      next();
    },
  };
}
