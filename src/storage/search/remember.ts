/** Remembers what a function returned. Only for functions without effects, whose arguments often repeat. */

/** Results of the last arguments, up to a number of them: then all are forgotten. */
export function remember<Argument extends string | number, Result>(
  compute: (argument: Argument) => Result,
  max: number,
): (argument: Argument) => Result {
  const known = new Map<Argument, Result>();
  return (argument) => {
    const found = known.get(argument);
    if (found !== undefined) return found;
    const result = compute(argument);
    if (known.size >= max) known.clear();
    known.set(argument, result);
    return result;
  };
}
