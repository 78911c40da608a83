/** Stands for a value in a statement that is being compiled, which is known only when the statement runs. */

import type { Given } from './statement.ts';

export class Placeholder {
  /** Null: an earlier placeholder, of a list, gives the value of this one too. */
  given: Given | null;

  constructor(given: Given | null) {
    this.given = given;
  }
}

/** What a query is given while it is compiled: any member is a placeholder. */
export const PARAMS = new Proxy({}, { get: (_, member: string) => placeholder(member) }) as never;

/** The same for the key of a lookup, with the names of the members that the query has read. */
export function createKey(): { readonly key: never; readonly members: ReadonlySet<string> } {
  const members = new Set<string>();
  const get = (_: unknown, member: string) => {
    members.add(member);
    return placeholder(member);
  };
  return { key: new Proxy({}, { get }) as never, members };
}

/** A placeholder as a value of the query builder. */
export function placeholder(member: string, form = 'plain', as: Given['as'] = 'value'): never {
  return new Placeholder({ member, form, as }) as never;
}

/** The member that a placeholder stands for. */
export function memberOf(value: unknown): string {
  if (!(value instanceof Placeholder) || value.given === null) {
    throw new Error('a query names its parameters alone, nothing made of them');
  }
  return value.given.member;
}
