/** Divides groups into parts, of which one at a time is summed up where there is no room for all. */

/** Groups whose hash leaves `at` when divided by `of`. */
export type GroupPart = { readonly of: number; readonly at: number };

export const ALL_GROUPS: GroupPart = { of: 1, at: 0 };

export function halvesOf({ of, at }: GroupPart): readonly [GroupPart, GroupPart] {
  return [
    { of: of * 2, at },
    { of: of * 2, at: at + of },
  ];
}

export function isInPart({ of, at }: GroupPart, group: string | null): boolean {
  return of === 1 || hashOf(group ?? '') % of === at;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
