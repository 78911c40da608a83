/** Reads about many endpoints, a few at a time, so that nobody else waits for all of them. */

import { setImmediate as turn } from 'node:timers/promises';

const ENDPOINTS_AT_ONCE = 100;

export async function inParts<Endpoint, T>(
  endpoints: readonly Endpoint[],
  read: (some: readonly Endpoint[]) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let from = 0; from < endpoints.length; from += ENDPOINTS_AT_ONCE) {
    if (from > 0) await turn();
    answers.push(await read(endpoints.slice(from, from + ENDPOINTS_AT_ONCE)));
  }
  return answers;
}
