/** Permission lists as grants keep them: JSON text. */

const REMEMBERED_MAX = 1000;

/**
 * Answers a reader of stored lists. Equal texts give the same array, because what a list expands to is
 * remembered by its identity. An unreadable text is a list of nothing.
 */
export function preparePermissionLists(): (json: string) => readonly string[] {
  const remembered = new Map<string, readonly string[]>();
  return (json) => {
    const known = remembered.get(json);
    if (known !== undefined) return known;
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    const list = read(json);
    remembered.set(json, list);
    return list;
  };
}

function read(json: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    // A damaged grant must not open anything, and must not keep the other grants from working.
    return [];
  }
}
