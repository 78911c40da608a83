/** How many things are done at once, and how many may wait for their turn. */

export type Places = {
  /** Resolves once there is a place, or says why there will be none. What was taken must be given back by `leave`. */
  take(signal: AbortSignal): Promise<'taken' | 'full' | 'stopped'>;
  leave(): void;
};

export type PlacesOptions = {
  readonly placesMax: number;
  readonly waitingMax: number;
};

export function createPlaces({ placesMax, waitingMax }: PlacesOptions): Places {
  let taken = 0;
  // In the order in which they came; the first one is next.
  const waiting = new Set<() => void>();
  return {
    take(signal) {
      if (signal.aborted) return Promise.resolve('stopped');
      if (taken < placesMax) {
        taken += 1;
        return Promise.resolve('taken');
      }
      if (waiting.size >= waitingMax) return Promise.resolve('full');
      return new Promise((resolve) => {
        const enter = () => {
          signal.removeEventListener('abort', giveUp);
          resolve('taken');
        };
        const giveUp = () => {
          waiting.delete(enter);
          resolve('stopped');
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(enter);
      });
    },
    leave() {
      const [next] = waiting;
      if (next === undefined) {
        taken -= 1;
        return;
      }
      // The place goes from one to the next without being free in between.
      waiting.delete(next);
      next();
    },
  };
}
