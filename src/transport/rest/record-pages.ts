/**
 * The target of the `platformUrl` of a trace, an evaluator, a monitor or a prompt on a server without the console: a page that says how
 * to read it over the API. It needs no credential and shows no data, so it is the same whether or not the record exists.
 */

import type { FoundPage } from './page.ts';
import { API_ROOT, splitPath } from './path.ts';

/** The path segment of each kind of record, and its noun. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ['traces', 'trace'],
  ['evaluators', 'evaluator'],
  ['monitors', 'monitor'],
  ['prompts', 'prompt'],
  ['triggers', 'trigger'],
]);

/** The page may use no script, style or frame and send no request, even if markup were injected into it. */
export const STATIC_PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** The page at a path `/<projectSlug>/<kind>/<id>`, null at every other path. `publicUrl` is the base of its example. */
export function findRecordPage(path: string, publicUrl: string): FoundPage | null {
  const segments = splitPath(path);
  if (segments?.length !== 3) return null;
  const [slug = '', kind = '', id = ''] = segments;
  const noun = NOUNS.get(kind);
  if (noun === undefined || slug === '' || slug === API_ROOT || id === '') return null;
  const body = write(noun, `${publicUrl}/api/${kind}/${encodeId(id)}`);
  const page = { status: 200, mediaType: 'text/html; charset=utf-8', headers: STATIC_PAGE_HEADERS, body };
  return { route: `/{projectSlug}/${kind}/{id}`, load: async () => page };
}

function write(noun: string, url: string): string {
  const shown = escapeHtml(url);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Spandrel: read this ${noun}</title>
<h1>Read this ${noun}</h1>
<p>The console of this server is off. This page holds no data and does not know whether there is such a ${noun}.
With the key of its project in <code>SPANDREL_PROJECT_KEY</code>, a shell shows it:</p>
<pre>curl -s '${shown}' -H "X-Auth-Token: $SPANDREL_PROJECT_KEY"</pre>
<p>With an API key that reaches several projects, name this one as well: <code>-H "X-Project-Id: project_…"</code>.</p>
</html>
`;
}

/** Percent-encodes the id, so that it is harmless in HTML and between the single quotes of a shell. */
function encodeId(id: string): string {
  return encodeURIComponent(id).replaceAll("'", '%27');
}

export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}
