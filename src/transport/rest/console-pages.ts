/** The console: one page for all of its paths, and the files that the page loads. */

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { type FoundPage, filePage, keepPage, type Page } from './page.ts';
import { API_ROOT, splitPath } from './path.ts';

const BUNDLE = new URL('../../../gen/console/', import.meta.url);
const PAGE_FILE = 'index.html';

/** The first segment of pages of the organization. Slugs of projects have more than one character. */
const ORGANIZATION = '-';
/** The first segment of links to traces. Slugs of projects have a hyphen. */
const SHARED = 'shared';
const PROJECT_PAGES: ReadonlySet<string> = new Set([
  'overview',
  'dashboards',
  'traces',
  'compare',
  'threads',
  'users',
  'evaluators',
  'monitors',
  'triggers',
  'prompts',
  'datasets',
  'experiments',
  'queues',
  'settings',
]);
const ORGANIZATION_PAGES: ReadonlySet<string> = new Set([
  'webhooks',
  'events',
  'keys',
  'projects',
  'members',
  'teams',
  'prices',
  'settings',
  'audit-log',
  'sessions',
  'spend',
  'model-providers',
  'virtual-keys',
  'budgets',
]);

/**
 * No inline scripts or styles, no eval, no requests to other origins, and trusted types keep text from becoming markup. Pictures
 * and sound of messages are blobs that the page makes. No referrer, because a URL contains search terms.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; connect-src 'self'",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "require-trusted-types-for 'script'; trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};
/** Whoever has the link reads the trace: no search engine should list it. */
const SHARED_HEADERS = { ...HEADERS, 'x-robots-tag': 'noindex' };
/** The name of every file but the page contains a hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * The page of the console at a path; null where there is none. The page itself finds out whether the record exists. `head` is
 * markup for its head.
 */
export function findConsolePage(path: string, head = ''): FoundPage | null {
  if (path === '/') return { route: '/', load: pageOf(PAGE_FILE, 'no-cache', head) };
  const file = /^\/(assets\/[0-9A-Za-z_.-]+)$/.exec(path)?.[1];
  if (file !== undefined) {
    return assets().has(file) ? { route: '/assets/{file}', load: pageOf(file, FOREVER) } : null;
  }
  const [first = '', kind = '', ...rest] = splitPath(path) ?? [];
  if (first === '' || first === API_ROOT || rest.includes('')) return null;
  if (first === SHARED && kind !== '' && rest.length === 0) {
    return { route: '/shared/{token}', load: pageOf(PAGE_FILE, 'no-cache', head, SHARED_HEADERS) };
  }
  const isOrganization = first === ORGANIZATION;
  if (!(isOrganization ? ORGANIZATION_PAGES : PROJECT_PAGES).has(kind)) return null;
  const below = routeBelow(kind, rest);
  if (below === null) return null;
  const route = `/${isOrganization ? ORGANIZATION : '{projectSlug}'}/${kind}${below}`;
  return { route, load: pageOf(PAGE_FILE, 'no-cache', head) };
}

/** The rest of the route template: of a record, or of a run of an experiment; null where there is no page. */
function routeBelow(kind: string, rest: readonly string[]): string | null {
  if (kind === 'experiments' && rest.length === 3 && rest[1] === 'runs') return '/{id}/runs/{runId}';
  if (rest.length > 1) return null;
  return rest.length === 1 ? '/{id}' : '';
}

let names: ReadonlySet<string> | null = null;

function assets(): ReadonlySet<string> {
  names ??= new Set(readdirSync(new URL('assets/', BUNDLE)).map((name) => `assets/${name}`));
  return names;
}

const pages = new Map<string, () => Promise<Page>>();

function pageOf(file: string, caching: string, head = '', headers = HEADERS): () => Promise<Page> {
  const name = `${file} ${headers === HEADERS} ${head}`;
  const cached = pages.get(name);
  if (cached) return cached;
  const page = keepPage(() => load(file, head, { ...headers, 'cache-control': caching }));
  pages.set(name, page);
  return page;
}

const packBrotli = promisify(brotliCompress);
/** Nearly as small as the best quality in a twentieth of its time: the first request waits for it. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

async function load(file: string, head: string, headers: Readonly<Record<string, string>>): Promise<Page> {
  const content = await readFile(new URL(file, BUNDLE));
  const body = head === '' ? content : Buffer.from(content.toString().replace('</head>', () => `${head}</head>`));
  const mediaType = MEDIA_TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const [page, brotli] = await Promise.all([filePage(mediaType, body, headers), packBrotli(body, BROTLI)]);
  return { ...page, brotli };
}
