/** Searches a JSON value for a text. */

import { readScalar } from './exact-json.ts';

const HITS_MAX = 200;
const VISITS_MAX = 200_000;

/**
 * The paths of members whose name or value contains the text, and the paths to unfold to show them. Iterative and
 * limited, because values may be hostile.
 */
export function findPaths(value: unknown, wanted: string): { open: ReadonlySet<string>; hits: ReadonlySet<string> } {
  const text = wanted.toLowerCase();
  const open = new Set<string>();
  const hits = new Set<string>();
  const left: { readonly path: string; readonly above: readonly string[]; readonly value: unknown }[] = [
    { path: '', above: [], value },
  ];
  for (let visits = 0; visits < VISITS_MAX && hits.size < HITS_MAX; visits += 1) {
    const next = left.pop();
    if (!next) break;
    const name = next.path.slice(next.path.lastIndexOf('/') + 1).toLowerCase();
    const isBranch = typeof next.value === 'object' && next.value !== null;
    if (name.includes(text) || (!isBranch && readScalar(next.value).text.toLowerCase().includes(text))) {
      hits.add(next.path);
      for (const path of next.above) open.add(path);
    }
    if (!isBranch) continue;
    const above = [...next.above, next.path];
    for (const [key, member] of Object.entries(next.value as object).toReversed()) {
      left.push({ path: `${next.path}/${key}`, above, value: member });
    }
  }
  return { open, hits };
}
