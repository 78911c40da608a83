/** Patterns of users, run by RE2: its time is linear in the length of the text for every pattern. */

import { RE2JS } from 're2js';

/** A cache, because compiling may take longer than searching, and saved rules repeat with every text. */
const compiled = new Map<string, RE2JS>();
const COMPILED_MAX = 50;

/** `^` and `$` match at line breaks. Throws for patterns that RE2 refuses. */
export function compilePattern(pattern: string): RE2JS {
  const cached = compiled.get(pattern);
  if (cached !== undefined) return cached;
  const made = RE2JS.compile(pattern, RE2JS.MULTILINE);
  const [first] = compiled.keys();
  if (compiled.size >= COMPILED_MAX && first !== undefined) compiled.delete(first);
  compiled.set(pattern, made);
  return made;
}

/** Why RE2 refuses a pattern; null: it does not. */
export function patternProblem(pattern: string): string | null {
  try {
    compilePattern(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
  }
}
