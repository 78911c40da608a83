/** Grants as they are stored: their permissions are one text. */

const LISTS_MAX = 1000;
const lists = new Map<string, readonly string[]>();

export function unpackGrant<Row extends { readonly permissionsJson: string }>({ permissionsJson, ...grant }: Row) {
  return { ...grant, permissions: listOf(permissionsJson) };
}

export function packGrant<Grant extends { readonly permissions: readonly string[] }>({ permissions, ...row }: Grant) {
  return { ...row, permissionsJson: JSON.stringify(permissions) };
}

/** Equal texts give the same array, because expansions of a list are cached by its identity. */
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
    // A damaged grant allows nothing, and does not keep other grants from working.
    return [];
  }
}
