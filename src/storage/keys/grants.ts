/** Grants between the rows, which keep permissions as JSON text, and what the domain knows. */

const LISTS_MAX = 1000;
const lists = new Map<string, readonly string[]>();

export function unpackGrant<Row extends { readonly permissionsJson: string }>({ permissionsJson, ...grant }: Row) {
  return { ...grant, permissions: listOf(permissionsJson) };
}

export function packGrant<Grant extends { readonly permissions: readonly string[] }>({ permissions, ...row }: Grant) {
  return { ...row, permissionsJson: JSON.stringify(permissions) };
}

/** Equal texts give the same array, because what a list expands to is remembered by its identity. */
function listOf(json: string): readonly string[] {
  const known = lists.get(json);
  if (known !== undefined) return known;
  if (lists.size >= LISTS_MAX) lists.clear();
  const list = read(json);
  lists.set(json, list);
  return list;
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
