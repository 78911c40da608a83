/** What is wrong with the fields of a form. */

import { createContext, useContext } from 'react';

/** A field is named as in the request. */
export type Problem = { readonly field: string; readonly text: string };

/** The problems of the form around a field. */
export const Problems = createContext<readonly Problem[]>([]);

/** The problem of a field, or of a part of it; null without one. */
export function useProblem(name: string | undefined): string | null {
  const problems = useContext(Problems);
  if (name === undefined) return null;
  const isOf = (field: string) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);
  return problems.find(({ field }) => isOf(field))?.text ?? null;
}
