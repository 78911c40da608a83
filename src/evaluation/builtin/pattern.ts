/** The patterns that users write: RE2, which takes time in proportion to the text whatever they say. */

import { RE2JS } from 're2js';

/** To compile one may take longer than to look for it, and saved rules come again with every text. */
const compiled = new Map<string, RE2JS>();
const COMPILED_MAX = 50;

/** `^` and `$` match at lines. Throws for what RE2 does not know. */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = RE2JS.compile(pattern, RE2JS.MULTILINE);
  const [first] = compiled.keys();
  if (compiled.size >= COMPILED_MAX && first !== undefined) compiled.delete(first);
  compiled.set(pattern, made);
  return made;
}

/** Why a pattern cannot be looked for; null when it can. */
export function patternProblem(pattern: string): string | null {
  try {
    compilePattern(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
  }
}
