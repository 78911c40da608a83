/** The import graph of src, and of the generated code that it imports. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

export const SOURCE = new URL('../../src/', import.meta.url).pathname;
const GENERATED = '../gen/';

/** One import, or export of what another file has. Paths are relative to src. */
export type Import = {
  readonly file: string;
  readonly from: string;
  readonly isType: boolean;
  /** Loaded only when the code that names it runs. */
  readonly isDynamic: boolean;
};

const SMALL_LINES = 40;

export function sourceFiles(): string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(tsx?|js|css)$/.test(name));
}

/** Modules and their declarations, without the bundle of the console, whose files are parts of src. */
export function generatedFiles(): string[] {
  const names = readdirSync(join(SOURCE, GENERATED), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.(js|d\.ts)$/.test(name) && !name.startsWith('console/'))
    .map((name) => GENERATED + name);
}

export function importsOf(file: string): Import[] {
  const text = readFileSync(join(SOURCE, file), 'utf8');
  const statements = text.matchAll(
    /^\s*(?:import|export)\b[^'"`;]*?from\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm,
  );
  return [...statements].map((match) => ({
    file,
    from: match[1] ?? match[2] ?? match[3] ?? '',
    isType: /^\s*(?:import|export) type\b/.test(match[0]),
    isDynamic: match[2] !== undefined,
  }));
}

/** A relative import as a path inside src/, generated code as "gen". */
export function target({ file, from }: Pick<Import, 'file' | 'from'>): string {
  const path = importedPath({ file, from });
  return path.startsWith(GENERATED) ? 'gen' : path;
}

function importedPath({ file, from }: Pick<Import, 'file' | 'from'>): string {
  return relative(SOURCE, normalize(join(SOURCE, dirname(file), from)));
}

/** Each as the path from a file back to itself; imports of types count too. A module and its declarations are one file. */
export function findCircles(imports: readonly Import[]): readonly string[] {
  const moduleOf = (path: string) => path.replace(/\.d\.ts$/, '.js');
  const targets = Map.groupBy(imports.filter(isRelative), ({ file }) => moduleOf(file));
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (finished.has(file) || path.includes(file)) return;
    for (const next of targets.get(file) ?? []) visit(moduleOf(importedPath(next)), [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}

/** Files of at most 40 lines that one other file imports. */
export function singleUserFiles(imports: readonly Import[]): readonly string[] {
  const users = Map.groupBy(imports.filter(isRelative), target);
  return [...users]
    .filter(([file, by]) => /\.(tsx?|js)$/.test(file) && new Set(by.map((each) => each.file)).size === 1)
    .filter(([file]) => linesOf(file) <= SMALL_LINES)
    .map(([file]) => file)
    .sort();
}

/** Lines of code of each room of src. */
export function linesByRoom(): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const file of sourceFiles()) {
    const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : '(files beside the rooms)';
    lines.set(room, (lines.get(room) ?? 0) + linesOf(file));
  }
  return lines;
}

function isRelative({ from }: Import): boolean {
  return from.startsWith('.');
}

function linesOf(file: string): number {
  return readFileSync(join(SOURCE, file), 'utf8').split('\n').length - 1;
}
