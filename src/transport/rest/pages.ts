/** Paths outside the contract: whether the process is alive, can take requests, how it is doing, what it serves, and where links in answers lead. */

import type { Store } from '../../domain/store.ts';
import { findConsolePage } from './console-pages.ts';
import { createDocsPages } from './docs-pages.ts';
import { JSON_MEDIA_TYPE } from './exchange.ts';
import type { Page, Pages } from './page.ts';
import { findRecordPage } from './record-pages.ts';

/** Of the text format of Prometheus. */
const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type PageDeps = {
  readonly store: Pick<Store, 'ready'>;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  /** Null where they are not told. */
  readonly metrics: (() => Promise<string>) | null;
  /** Whether people are shown the console. */
  readonly console: boolean;
  /** The base of links. */
  readonly publicUrl: () => string;
};

/** Alive as long as it answers; ready while the store works and the process does not drain. */
export function createPages({ store, accepting, metrics, console, publicUrl }: PageDeps): Pages {
  const states = new Map<string, () => Promise<Page>>([
    ...createDocsPages(),
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
    states.set('/metrics', async () => ({ status: 200, mediaType: METRICS_MEDIA_TYPE, body: await metrics() }));
  }
  return { states, find: console ? findConsolePage : (path) => findRecordPage(path, publicUrl()) };
}

function page(status: number, word: string): Page {
  return { status, mediaType: JSON_MEDIA_TYPE, body: JSON.stringify({ status: word }) };
}
