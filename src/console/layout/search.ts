/** Reads the search parameters of an address. It may contain anything, so invalid parameters are dropped. */

export type RawSearch = Record<string, unknown>;
export type Readers = { readonly [name: string]: (value: unknown) => unknown };

/** What a page gets: a parameter is valid or absent. */
export type SearchOf<R extends Readers> = { readonly [K in keyof R]?: NonNullable<ReturnType<R[K]>> };

/** A change of parameters; undefined removes one. */
export type ChangeOf<Search> = { readonly [K in keyof Search]?: Search[K] | undefined };

export function readerOf<R extends Readers>(readers: R) {
  return (raw: RawSearch): SearchOf<R> => {
    const read = Object.entries(readers).map(([name, reader]) => [name, reader(raw[name])] as const);
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as SearchOf<R>;
  };
}

/** The router parses a text of digits as a number. */
export function text(value: unknown): string | undefined {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined;
}

export function flag(value: unknown): true | undefined {
  return value === true ? value : undefined;
}

export function oneOf<const Name extends string>(...names: readonly Name[]) {
  return (value: unknown): Name | undefined => names.find((name) => name === value);
}
