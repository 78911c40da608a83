/** Pages for whoever keeps the process running: is it alive, can it take requests. */

import type { Store } from '../../domain/store.ts';
import { JSON_MEDIA_TYPE } from './exchange.ts';
import type { Page } from './rest.ts';

/** Alive as long as it answers; ready while the store works and the process does not drain. */
export function createPages(
  store: Pick<Store, 'ready'>,
  accepting: () => boolean,
): ReadonlyMap<string, () => Promise<Page>> {
  return new Map([
    ['/healthz', async () => page(200, 'ok')],
    [
      '/readyz',
      async () => {
        if (!accepting()) return page(503, 'draining');
        try {
          await store.ready();
          return page(200, 'ready');
        } catch {
          return page(503, 'store unavailable');
        }
      },
    ],
  ]);
}

function page(status: number, word: string): Page {
  return { status, mediaType: JSON_MEDIA_TYPE, body: JSON.stringify({ status: word }) };
}
