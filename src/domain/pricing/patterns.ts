/** Patterns of callers for names of models, run in time that grows with the name alone: by RE2, which never backtracks. */

/** Compiles patterns; what it answers tells which of them take a whole name in lower case, by their places, ascending. */
export type CompilePatterns = (patterns: readonly string[]) => (name: string) => readonly number[];

export type PatternEngine = {
  readonly compile: CompilePatterns;
  /** How large a pattern is once it is compiled; or what is wrong with it, in words. */
  measure(pattern: string): number | string;
};

/** What one organization may remember of how its patterns run. */
const MEMORY_MAX_BYTES = 1024 * 1024;

let loading: Promise<PatternEngine> | null = null;

/** Loads the engine when the first pattern needs it: most servers never do, and it takes its time and its memory. */
export function loadPatternEngine(): Promise<PatternEngine> {
  loading ??= loadEngine();
  return loading;
}

async function loadEngine(): Promise<PatternEngine> {
  const { RE2JS, RE2JSException, RE2Set } = await import('re2js');
  return {
    compile(patterns) {
      const set = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.CASE_INSENSITIVE, MEMORY_MAX_BYTES);
      for (const pattern of patterns) set.add(pattern);
      set.compile();
      return (name) => set.match(name).sort((left, right) => left - right);
    },
    measure(pattern) {
      try {
        return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize();
      } catch (error) {
        if (error instanceof RE2JSException) return error.message.replace(/^error parsing regexp: /, '');
        throw error;
      }
    },
  };
}
