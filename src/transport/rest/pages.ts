/** Pages for whoever keeps the process running: is it alive, can it take requests, how is it doing. */

import type { Store } from '../../domain/store.ts';
import { JSON_MEDIA_TYPE } from './exchange.ts';
import type { Page } from './rest.ts';

/** Of the text format of Prometheus. */
const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Alive as long as it answers; ready while the store works and the process does not drain. Metrics null: not told. */
export function createPages(
  store: Pick<Store, 'ready'>,
  accepting: () => boolean,
  metrics: (() => Promise<string>) | null,
): ReadonlyMap<string, () => Promise<Page>> {
  const pages = new Map([
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
  if (metrics !== null) {
    pages.set('/metrics', async () => ({ status: 200, mediaType: METRICS_MEDIA_TYPE, body: await metrics() }));
  }
  return pages;
}

function page(status: number, word: string): Page {
  return { status, mediaType: JSON_MEDIA_TYPE, body: JSON.stringify({ status: word }) };
}
