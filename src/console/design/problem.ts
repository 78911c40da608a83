/** What is wrong with a field of a form, which is named as in the request. */
export type Problem = { readonly field: string; readonly text: string };

/** The problem of a field, or of a part of it; null without one. */
export function problemOf(problems: readonly Problem[], name: string | undefined): string | null {
  if (name === undefined) return null;
  const isOf = (field: string) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);
  return problems.find(({ field }) => isOf(field))?.text ?? null;
}
