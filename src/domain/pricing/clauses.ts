/** The clauses by which the package matches the names of models and vendors. */

import type { MatchLogic } from '@pydantic/genai-prices';

/** Whether it matches a lower-case name. */
export type Clause = (name: string) => boolean;

export function compileClause(logic: MatchLogic): Clause {
  if ('or' in logic) {
    const parts = logic.or.map(compileClause);
    return (name) => parts.some((takes) => takes(name));
  }
  if ('and' in logic) {
    const parts = logic.and.map(compileClause);
    return (name) => parts.every((takes) => takes(name));
  }
  if ('regex' in logic) {
    const pattern = new RegExp(logic.regex);
    return (name) => pattern.test(name);
  }
  return compileLiteral(logic);
}

type LiteralLogic = Exclude<MatchLogic, { or: unknown } | { and: unknown } | { regex: unknown }>;

function compileLiteral(logic: LiteralLogic): Clause {
  if ('equals' in logic) {
    const text = logic.equals.toLowerCase();
    return (name) => name === text;
  }
  if ('starts_with' in logic) {
    const text = logic.starts_with.toLowerCase();
    return (name) => name.startsWith(text);
  }
  if ('ends_with' in logic) {
    const text = logic.ends_with.toLowerCase();
    return (name) => name.endsWith(text);
  }
  const text = logic.contains.toLowerCase();
  return (name) => name.includes(text);
}

/**
 * The texts in a clause that alone identify the model, so that they serve as exact names. A text inside `and` does
 * not, so it is left out.
 */
export function listLiterals(logic: MatchLogic): readonly string[] {
  if ('or' in logic) return logic.or.flatMap(listLiterals);
  if ('equals' in logic) return [logic.equals];
  if ('starts_with' in logic) return [logic.starts_with];
  if ('contains' in logic) return [logic.contains];
  if ('ends_with' in logic) return [logic.ends_with];
  return [];
}
