/** Paths outside the contract: liveness, readiness, metrics, documentation, the console, and the targets of links in responses. */

import type { Readiness } from '../health.ts';
import { findConsolePage } from './console-pages.ts';
import { createDocsPages } from './docs-pages.ts';
import { JSON_MEDIA_TYPE } from './exchange.ts';
import type { FoundPage, LoadPage, Page, Pages } from './page.ts';
import { splitPath } from './path.ts';
import { escapeHtml, findRecordPage } from './record-pages.ts';
import { createSignInPages, type SignInSteps } from './sign-in-pages.ts';

/** The media type of Prometheus' text format. */
const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const DAY_MS = 86_400_000;

type PageDeps = {
  /** Whether the store can read and write; resolves within a second. */
  readonly readiness: () => Promise<Readiness>;
  /** By how much the clock is ahead of what is stored while deletions are held back; else 0. */
  readonly heldMs: () => number;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  /** The text of /metrics; null where it is not served. */
  readonly metrics: (() => Promise<string>) | null;
  /** Whether pages for people are served: the documentation, and the console or links to records. */
  readonly people: boolean;
  /** Whether the console is served. */
  readonly console: boolean;
  readonly signIn: SignInWays;
  /** The base of links. */
  readonly publicUrl: () => string;
};

/** How people sign in to the console. */
export type SignInWays = {
  readonly byKey: boolean;
  /** Through an issuer, which the page names by its host; null: not so. */
  readonly oidc: { readonly host: string; readonly steps: SignInSteps } | null;
};

/** `/healthz` is always 200; `/readyz` is 200 while the store works and the process does not drain. */
export function createPages(deps: PageDeps): Pages {
  const { readiness, heldMs, accepting, metrics, people, console, signIn, publicUrl } = deps;
  const pagesByPath = new Map<string, LoadPage>([
    ...(people ? createDocsPages() : []),
    ...(people && signIn.oidc ? createSignInPages(signIn.oidc.steps) : []),
    ['/healthz', async () => page(200, 'ok')],
    [
      '/readyz',
      async () => {
        if (!accepting()) return page(503, 'draining');
        const { isReady, detail } = await readiness();
        return isReady ? page(200, 'ready', describeHold(heldMs())) : page(503, 'store unavailable', detail);
      },
    ],
  ]);
  if (metrics !== null) {
    pagesByPath.set('/metrics', async () => ({ status: 200, mediaType: METRICS_MEDIA_TYPE, body: await metrics() }));
  }
  const head = headOf(signIn);
  const findOther = (path: string) => (console ? findConsolePage(path, head) : findRecordPage(path, publicUrl()));
  return { find: (path) => findNamed(pagesByPath, path) ?? (people ? findOther(path) : null) };
}

/** What the page of the console has to know before anybody is signed in. */
function headOf({ byKey, oidc }: SignInWays): string {
  const issuer = oidc === null ? '' : `<meta name="spandrel-issuer" content="${escapeHtml(oidc.host)}">`;
  return byKey ? issuer : `${issuer}<meta name="spandrel-key-sign-in" content="off">`;
}

function describeHold(heldMs: number): string | undefined {
  if (heldMs === 0) return undefined;
  const days = (heldMs / DAY_MS).toFixed(1);
  return `Nothing is deleted by age: the clock is ${days} days ahead of what is stored. Correct the clock, or confirm it with spandrel retention --release.`;
}

/** Escapes in a path are decoded; an escaped slash separates no segments. */
function findNamed(pages: ReadonlyMap<string, LoadPage>, path: string): FoundPage | null {
  const route = `/${(splitPath(path) ?? []).map(encodeURIComponent).join('/')}`;
  const load = pages.get(route);
  return load === undefined ? null : { route, load };
}

function page(status: number, word: string, detail?: string): Page {
  return { status, mediaType: JSON_MEDIA_TYPE, body: JSON.stringify({ status: word, detail }) };
}
