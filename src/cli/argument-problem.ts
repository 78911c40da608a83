/** What is wrong with arguments, as text. */

/** What was given beside options is not repeated: a token, or the address of a database, may be among it. */
export function argumentProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') return 'takes options only';
  return error.message.split('\n')[0] ?? '';
}
