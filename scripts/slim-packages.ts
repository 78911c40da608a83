/** Removes from installed packages what the server never loads. Runs while the image is built, with its folder of packages. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [root] = process.argv.slice(2);
if (root === undefined) throw new Error('slim-packages takes the folder of the packages');

/** What is loaded of packages that also hold other builds; paths and folders. */
const KEPT: { readonly [name: string]: readonly string[] } = {
  'node-sql-parser': ['build/mysql.js', 'build/postgresql.js', 'build/sqlite.js'],
  'better-sqlite3': ['lib', `prebuilds/${process.platform}-${process.arch}.node`],
  'swagger-ui-dist': ['swagger-ui-bundle.js', 'swagger-ui.css', 'NOTICE'],
};
const ALWAYS_KEPT = ['package.json', 'LICENSE'];

for (const [name, kept] of Object.entries(KEPT)) {
  const folder = join(root, name);
  for (const path of filesOf(folder)) {
    const isKept = [...ALWAYS_KEPT, ...kept].some((each) => path === each || path.startsWith(`${each}/`));
    if (!isKept) rmSync(join(folder, path));
  }
}
/** For compilers, debuggers and people; and what bundlers take of OpenTelemetry, of which Node loads `build/src`. */
const UNUSED = /\.(map|d\.[cm]?ts|md|markdown)$|(^|\/)@opentelemetry\/[^/]+\/build\/(esm|esnext)\//;
for (const path of filesOf(root)) {
  if (UNUSED.test(path)) rmSync(join(root, path));
}
rmSync(join(root, '@types'), { recursive: true, force: true });

function filesOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
