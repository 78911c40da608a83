/** Paths outside the contract: liveness, readiness, metrics, documentation, the console, and the targets of links in responses. */

import { Fault } from '../../domain/fault.ts';
import type { Store } from '../../domain/store.ts';
import { findConsolePage } from './console-pages.ts';
import { createDocsPages } from './docs-pages.ts';
import { JSON_MEDIA_TYPE } from './exchange.ts';
import type { FoundPage, Page, Pages } from './page.ts';
import { splitPath } from './path.ts';
import { findRecordPage } from './record-pages.ts';

/** The media type of Prometheus' text format. */
const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type PageDeps = {
  readonly store: Pick<Store, 'ready'>;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  /** The text of /metrics; null where it is not served. */
  readonly metrics: (() => Promise<string>) | null;
  /** Whether the console is served. */
  readonly console: boolean;
  /** The base of links. */
  readonly publicUrl: () => string;
};

/** `/healthz` is always 200; `/readyz` is 200 while the store works and the process does not drain. */
export function createPages({ store, accepting, metrics, console, publicUrl }: PageDeps): Pages {
  const pagesByPath = new Map<string, () => Promise<Page>>([
    ...createDocsPages(),
    ['/healthz', async () => page(200, 'ok')],
    [
      '/readyz',
      async () => {
        if (!accepting()) return page(503, 'draining');
        try {
          await store.ready();
          return page(200, 'ready');
        } catch (error) {
          return page(503, 'store unavailable', error instanceof Fault ? error.message : undefined);
        }
      },
    ],
  ]);
  if (metrics !== null) {
    pagesByPath.set('/metrics', async () => ({ status: 200, mediaType: METRICS_MEDIA_TYPE, body: await metrics() }));
  }
  const findOther = console ? findConsolePage : (path: string) => findRecordPage(path, publicUrl());
  return { find: (path) => findNamed(pagesByPath, path) ?? findOther(path) };
}

/** Escapes in a path are decoded; an escaped slash separates no segments. */
function findNamed(pages: ReadonlyMap<string, () => Promise<Page>>, path: string): FoundPage | null {
  const route = `/${(splitPath(path) ?? []).map(encodeURIComponent).join('/')}`;
  const load = pages.get(route);
  return load === undefined ? null : { route, load };
}

function page(status: number, word: string, detail?: string): Page {
  return { status, mediaType: JSON_MEDIA_TYPE, body: JSON.stringify({ status: word, detail }) };
}
