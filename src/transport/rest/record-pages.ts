/**
 * Where the `platformUrl` of a trace, an evaluator or a monitor leads on a server without a console: a page that says how to read it.
 * It asks for no credential, looks nothing up and holds no data, so it is the same whether or not the record exists.
 */

import type { FoundPage } from './page.ts';
import { splitPath } from './path.ts';

/** What people call one record of each kind. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ['traces', 'trace'],
  ['evaluators', 'evaluator'],
  ['monitors', 'monitor'],
]);

/** Of the contract; never the slug of a project. */
const API_ROOT = 'api';

/** No script, style, frame or address may be used by the page, whatever stood in it. */
const HEADERS = {
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
  const page = { status: 200, mediaType: 'text/html; charset=utf-8', headers: HEADERS, body };
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

/** Letters, digits and percent signs, which mean nothing to HTML, nor between the quotes of a shell. */
function encodeId(id: string): string {
  return encodeURIComponent(id).replaceAll("'", '%27');
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}
