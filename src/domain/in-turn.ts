/** Work that must not overlap with other work of the same name. */

export type InTurn = <R>(name: string, work: () => Promise<R>) => Promise<R>;

/** Each piece begins when the one before it, of the same name, has ended one way or the other. */
export function createInTurn(): InTurn {
  const ends = new Map<string, Promise<void>>();
  return async (name, work) => {
    const before = ends.get(name);
    const { promise: end, resolve: leave } = Promise.withResolvers<void>();
    ends.set(name, end);
    await before;
    try {
      return await work();
    } finally {
      if (ends.get(name) === end) ends.delete(name);
      leave();
    }
  };
}
