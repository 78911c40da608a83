import { describe, expect, it } from 'vitest';
import { draftOf } from './spans.ts';

describe('values that are larger than they look', () => {
  it('the names of flat arrays have eight levels, and the rest of a key is one name', () => {
    const key = (names: string) => `gen_ai.prompt.0.${names}`;
    expect(draftOf({ [key('a.b.c.d.e.f.g.h.i')]: 1 }).input).toMatchObject({
      value: [{ a: { b: { c: { d: { e: { f: { 'g.h.i': 1 } } } } } } }],
    });
  });
});
