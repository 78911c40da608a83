/** Arrays in attributes that have indexes in their names. */

import { isObject } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { contentIn } from './messages.ts';
import { createSource, type Source } from './span-view.ts';

/** The rest of a longer key is one name: no SDK nests deeper, and each level costs time. */
const SEGMENTS_MAX = 8;
const INDEX = /^(0|[1-9][0-9]{0,8})$/;
/** An item with only these members becomes their values. */
const WRAPPERS: ReadonlySet<string> = new Set(['message', 'tool_call', 'message_content', 'document']);
const RENAMED: ReadonlyMap<string, string> = new Map([['contents', 'content']]);

type Tree = Map<string, Tree | LosslessJson>;

/**
 * The array in the attributes under a prefix: `llm.input_messages.0.message.role` is a member of the first message.
 * undefined when there is none.
 */
export function indexed(prefix: string): Source {
  return createSource(`\`${prefix}<n>\``, ({ span, json }) => {
    let root: Tree | undefined;
    for (const [key, value] of span.attributes) {
      if (!key.startsWith(prefix)) continue;
      const [index = '', ...names] = segmentsOf(key.slice(prefix.length));
      if (!INDEX.test(index)) continue;
      root ??= new Map();
      insertAt(root, [index, ...names], key.endsWith('.content') ? contentIn(value, json) : value);
    }
    return root === undefined ? undefined : toJson(root);
  });
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('.', SEGMENTS_MAX);
  const used = segments.join('.').length;
  if (used === path.length) return segments;
  return [...segments.slice(0, -1), `${segments.at(-1)}${path.slice(used)}`];
}

function insertAt(root: Tree, path: readonly string[], value: LosslessJson): void {
  let tree = root;
  for (const segment of path.slice(0, -1)) {
    const known = tree.get(segment);
    const next: Tree = known instanceof Map ? known : new Map();
    if (known !== next) tree.set(segment, next);
    tree = next;
  }
  tree.set(path.at(-1) ?? '', value);
}

function toJson(tree: Tree): LosslessJson {
  const entries = [...tree].map(([key, branch]) => [key, branch instanceof Map ? toJson(branch) : branch] as const);
  if (entries.every(([key]) => INDEX.test(key))) {
    // Indexes only give the order: gaps and huge indexes leave no holes.
    return entries.toSorted(([one], [other]) => Number(one) - Number(other)).map(([, value]) => unwrap(value));
  }
  return Object.fromEntries(entries.map(([key, value]) => [RENAMED.get(key) ?? key, value]));
}

function unwrap(value: LosslessJson): LosslessJson {
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  if (names.length === 0 || !names.every((name) => WRAPPERS.has(name))) return value;
  const wrapped = Object.values(value);
  if (wrapped.length === 1) return wrapped[0] ?? null;
  // OpenInference splits a part with a call of a tool in two.
  return wrapped.every(isObject) ? Object.fromEntries(wrapped.flatMap((each) => Object.entries(each))) : value;
}
