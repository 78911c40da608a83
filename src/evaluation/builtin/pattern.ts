/** The patterns that users write: RE2, which takes time in proportion to the text whatever they say. */

import { RE2JS } from 're2js';

/** `^` and `$` match at lines. Throws for what RE2 does not know. */
export function compilePattern(pattern: string): RE2JS {
  return RE2JS.compile(pattern, RE2JS.MULTILINE);
}
