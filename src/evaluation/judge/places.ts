/** How many things are done at once, and how many may wait for their turn. No owner holds all the places. */

import { createWaitingLine } from '../pool/waiting-line.ts';

export type Places = {
  /** Resolves once there is a place, or says why there will be none. What was taken must be given back by `leave`. */
  take(owner: string, signal: AbortSignal): Promise<'taken' | 'full' | 'stopped'>;
  leave(owner: string): void;
};

export type PlacesOptions = {
  readonly placesMax: number;
  readonly waitingMax: number;
};

/** How many of the places one owner may have: what takes long leaves one to the others. */
export function placesOfOwner(placesMax: number): number {
  return Math.max(1, placesMax - 1);
}

export function createPlaces({ placesMax, waitingMax }: PlacesOptions): Places {
  const ofOwnerMax = placesOfOwner(placesMax);
  const taken = new Map<string, number>();
  let takenInAll = 0;
  const waiting = createWaitingLine<() => void>(waitingMax);

  function mayEnter(owner: string): boolean {
    return takenInAll < placesMax && (taken.get(owner) ?? 0) < ofOwnerMax;
  }

  function enter(owner: string): void {
    taken.set(owner, (taken.get(owner) ?? 0) + 1);
    takenInAll += 1;
  }

  return {
    take(owner, signal) {
      if (signal.aborted) return Promise.resolve('stopped');
      if (mayEnter(owner)) {
        enter(owner);
        return Promise.resolve('taken');
      }
      return new Promise((resolve) => {
        const go = () => {
          signal.removeEventListener('abort', giveUp);
          enter(owner);
          resolve('taken');
        };
        const giveUp = () => {
          waiting.remove(owner, go);
          resolve('stopped');
        };
        if (waiting.add(owner, go)) signal.addEventListener('abort', giveUp, { once: true });
        else resolve('full');
      });
    },
    leave(owner) {
      const left = (taken.get(owner) ?? 0) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
      takenInAll -= 1;
      // The place goes from one to the next without being free in between.
      waiting.next(mayEnter)?.();
    },
  };
}
