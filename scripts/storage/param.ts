/** A placeholder for a value known only when a query runs; `cell` is the code that reads it. */
export class Param {
  cell: string;

  constructor(cell: string) {
    this.cell = cell;
  }
}

/** A Param for every name. */
export const PARAMS = new Proxy({}, { get: (_, name: string) => new Param(`params.${name}`) }) as never;

/** The same for a lookup key, with the names that the query read. */
export function createKey(): { readonly key: never; readonly names: ReadonlySet<string> } {
  const names = new Set<string>();
  const get = (_: unknown, name: string) => {
    names.add(name);
    return new Param(`params.${name}`);
  };
  return { key: new Proxy({}, { get }) as never, names };
}

/** The code that reads the value. */
export function cellOf(param: unknown): string {
  if (!(param instanceof Param)) throw new Error('a query names its parameters alone, nothing made of them');
  return param.cell;
}

/** Wraps code as a query builder value. */
export function asValue(cell: string): never {
  return new Param(cell) as never;
}
