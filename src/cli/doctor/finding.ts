/** What the doctor says about one thing. */

export type Finding = {
  /** `fail`: a start would be refused, or data lost. `warn`: it runs, with a risk. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly about: string;
  /** What was found and, unless it is ok, what to do. One line without secrets. */
  readonly text: string;
};

/** Makes findings about one thing. */
export function findingsAbout(about: string) {
  const say = (level: Finding['level']) => (text: string) => ({ level, about, text }) as const;
  return { ok: say('ok'), warn: say('warn'), fail: say('fail') };
}

export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
