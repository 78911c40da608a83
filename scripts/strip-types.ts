/**
 * Copies a folder of source with TypeScript as JavaScript, which Node also loads from a folder of packages, and without
 * loading what strips types. Lines stay where they are. Takes the folder and its copy.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error('strip-types takes a folder and that of its copy');
/** Bundled in gen. */
const CONSOLE = join(from, 'console');
/** The specifier of a module of ours. */
const SPECIFIER = /(\bfrom |\bimport |\bimport\()'(\.{1,2}\/[^']+)\.ts'/g;

for (const entry of readdirSync(from, { withFileTypes: true, recursive: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isDirectory() || path.startsWith(`${CONSOLE}/`)) continue;
  const target = join(to, relative(from, path));
  mkdirSync(dirname(target), { recursive: true });
  if (/\.[jt]s$/.test(path)) writeFileSync(target.replace(/\.ts$/, '.js'), toJavaScript(path));
  else cpSync(path, target);
}

function toJavaScript(path: string): string {
  const text = readFileSync(path, 'utf8');
  const plain = path.endsWith('.ts') ? stripTypeScriptTypes(text, { mode: 'strip' }) : text;
  return plain.replace(SPECIFIER, "$1'$2.js'");
}
