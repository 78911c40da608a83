/** Matches callers' patterns for model names by RE2, which never backtracks: the time is linear in the name. */

/** Compiles patterns; the result lists the indexes, ascending, of those that match a whole lower-case name. */
export type CompilePatterns = (patterns: readonly string[]) => (name: string) => readonly number[];

/** Limits the automaton of one organization's patterns. */
const MEMORY_MAX_BYTES = 1024 * 1024;

let loading: ReturnType<typeof loadEngine> | null = null;

/** Loads the engine when the first pattern needs it: it costs time and memory, and most servers never need it. */
export function loadPatternEngine() {
  loading ??= loadEngine();
  return loading;
}

async function loadEngine() {
  const { RE2JS, RE2JSException, RE2Set } = await import('re2js');
  return {
    compile(patterns: readonly string[]): ReturnType<CompilePatterns> {
      const set = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.CASE_INSENSITIVE, MEMORY_MAX_BYTES);
      for (const pattern of patterns) set.add(pattern);
      set.compile();
      return (name) => set.match(name).sort((left, right) => left - right);
    },
    /** The size of the compiled pattern, or the message of its error. */
    measure(pattern: string): number | string {
      try {
        return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize();
      } catch (error) {
        if (error instanceof RE2JSException) return error.message.replace(/^error parsing regexp: /, '');
        throw error;
      }
    },
  };
}
