/** Stands in a question for what is only known when it is asked; `cell` is the code that reads it. */
export class Given {
  cell: string;

  constructor(cell: string) {
    this.cell = cell;
  }
}

/** For every name a stand-in. */
export const GIVEN = new Proxy({}, { get: (_, name: string) => new Given(`given.${name}`) }) as never;

/** The same of a key that is looked up, and the names that were asked for. */
export function createKey(): { readonly key: never; readonly names: ReadonlySet<string> } {
  const names = new Set<string>();
  const get = (_: unknown, name: string) => {
    names.add(name);
    return new Given(`given.${name}`);
  };
  return { key: new Proxy({}, { get }) as never, names };
}

/** The code that reads what stands here. */
export function cellOf(given: unknown): string {
  if (!(given instanceof Given)) throw new Error('a question names what is given itself, not something made of it');
  return given.cell;
}

/** As a value of the query builder. */
export function asValue(cell: string): never {
  return new Given(cell) as never;
}
