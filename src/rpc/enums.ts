/**
 * The values of the contract's enums by their names, which the domain uses too, in lower case or as they are. The compiler
 * finds a name that only one of both has.
 */

type Name<E> = Exclude<keyof E & string, 'UNSPECIFIED'>;

/** Null for a value that is not set, and for an unknown number, which the rule of its field refuses. */
export function nameOf<E extends object>(values: E, number: number): Name<E> | null {
  // Enum objects map numbers to names too.
  const name = (values as { readonly [number: number]: string | undefined })[number];
  return name === undefined || number === 0 ? null : (name as Name<E>);
}

/** The name in lower case. */
export function wordOf<E extends object>(values: E, number: number): Lowercase<Name<E>> | null {
  return (nameOf(values, number)?.toLowerCase() ?? null) as Lowercase<Name<E>> | null;
}

/** The numbers of all values by their names in lower case. */
export function numbersOf<E extends object>(values: E): { readonly [N in Name<E> as Lowercase<N>]: E[N] } {
  return Object.fromEntries(Object.entries(values).map(([name, number]) => [name.toLowerCase(), number])) as never;
}
