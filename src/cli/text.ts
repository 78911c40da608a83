/** Formats responses of the server for a terminal. */

/** Columns as wide as their widest cell. */
export function alignRows(rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(withoutControls));
  const widths = (clean[0] ?? []).map((_, column) => Math.max(...clean.map((row) => [...(row[column] ?? '')].length)));
  return clean
    .map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** Replaces control characters: names are free text, and must not control the terminal. */
function withoutControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '?');
}

/** The text of a member of a response; a dash where it is missing or empty. */
export function memberText(body: unknown, name: string): string {
  const value = memberOf(body, name);
  return value === null || value === undefined || value === '' ? '-' : String(value);
}

export function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? (body as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** The items of a list in a response; none when there is no such list. */
export function itemsOf(body: unknown, name: string): readonly unknown[] {
  const items = memberOf(body, name);
  return Array.isArray(items) ? items : [];
}
