/** The programs in JavaScript on docs/opentelemetry.md. */

import { readFileSync } from 'node:fs';

const PAGE = readFileSync(new URL('../docs/opentelemetry.md', import.meta.url), 'utf8');

export const SNIPPETS: ReadonlyMap<string, string> = new Map(
  [...PAGE.matchAll(/^## ([^\n]+)\n(?:(?!^## ).)*?^```js\n(.*?)^```/gms)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
);
