/** Arrays that attributes hold flat: `llm.input_messages.0.message.role` is a member of the first message. */

import type { LosslessJson } from '../lossless-json.ts';
import type { Source } from './span-view.ts';

/** Beyond it the rest of a key is one name: nobody means deeper ones, and each level costs. */
const SEGMENTS_MAX = 8;
const INDEX = /^(0|[1-9][0-9]{0,8})$/;
/** An item that has nothing but one of these members stands for its value. */
const WRAPPERS: readonly string[] = ['message', 'tool_call', 'message_content', 'document'];
const RENAMED: ReadonlyMap<string, string> = new Map([['contents', 'content']]);

type Tree = Map<string, Tree | LosslessJson>;

/** The array that the attributes behind a prefix spell out, such as "llm.input_messages."; undefined when there is none. */
export function indexed(prefix: string): Source {
  return ({ span }) => {
    let root: Tree | undefined;
    for (const [key, value] of span.attributes) {
      if (!key.startsWith(prefix)) continue;
      const [index = '', ...names] = segmentsOf(key.slice(prefix.length));
      if (!INDEX.test(index)) continue;
      root ??= new Map();
      plant(root, [index, ...names], value);
    }
    return root === undefined ? undefined : grow(root);
  };
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('.', SEGMENTS_MAX);
  const used = segments.join('.').length;
  if (used === path.length) return segments;
  return [...segments.slice(0, -1), `${segments.at(-1)}${path.slice(used)}`];
}

function plant(root: Tree, path: readonly string[], value: LosslessJson): void {
  let tree = root;
  for (const segment of path.slice(0, -1)) {
    const known = tree.get(segment);
    const next: Tree = known instanceof Map ? known : new Map();
    if (known !== next) tree.set(segment, next);
    tree = next;
  }
  tree.set(path.at(-1) ?? '', value);
}

function grow(tree: Tree): LosslessJson {
  const entries = [...tree].map(([key, branch]) => [key, branch instanceof Map ? grow(branch) : branch] as const);
  if (entries.every(([key]) => INDEX.test(key))) {
    // The numbers say the order and no more: a gap, or a huge one, makes no room.
    return entries.toSorted(([one], [other]) => Number(one) - Number(other)).map(([, value]) => unwrap(value));
  }
  return Object.fromEntries(entries.map(([key, value]) => [RENAMED.get(key) ?? key, value]));
}

function unwrap(value: LosslessJson): LosslessJson {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value as Readonly<Record<string, LosslessJson>>);
  const [entry] = entries;
  return entry !== undefined && entries.length === 1 && WRAPPERS.includes(entry[0]) ? entry[1] : value;
}
