/** The OpenAPI document, and a page that renders it without requests to other servers. */

import { readFile } from 'node:fs/promises';
import { filePage, keepPage, type Page } from './page.ts';

/** By path. */
export function createDocsPages(): ReadonlyMap<string, () => Promise<Page>> {
  const openapi = () => readFile(new URL('../../../gen/openapi.json', import.meta.url));
  return new Map([
    ['/openapi.json', keep('application/json; charset=utf-8', openapi)],
    ['/docs', keep('text/html; charset=utf-8', async () => Buffer.from(HTML))],
    ['/docs/start.js', keep(SCRIPT_TYPE, async () => Buffer.from(START))],
    ['/docs/swagger-ui.js', keep(SCRIPT_TYPE, () => readRenderer('swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', keep('text/css; charset=utf-8', () => readRenderer('swagger-ui.css'))],
  ]);
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** Relative URLs, so that a proxy may serve the page below any path. */
const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Spandrel: routes</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="routes"></div>
<script src="docs/swagger-ui.js"></script>
<script src="docs/start.js"></script>
</html>
`;

/** No validator badge: it would send this server's address to another server. */
const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#routes', validatorUrl: null, docExpansion: 'none', filter: true });
`;

/**
 * Scripts and requests only of this origin. The renderer needs inline styles and data: images; inline styles can load
 * nothing from other origins.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

function readRenderer(file: string): Promise<Buffer> {
  return readFile(new URL(import.meta.resolve(`swagger-ui-dist/${file}`)));
}

function keep(mediaType: string, read: () => Promise<Buffer>): () => Promise<Page> {
  return keepPage(async () => filePage(mediaType, await read(), HEADERS));
}
