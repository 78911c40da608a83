import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handleProblems, parseReference } from '../../../src/domain/prompts/prompt-names.ts';

const part = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
const handle = fc
  .oneof(
    part,
    fc.tuple(part, part).map((parts) => parts.join('/')),
  )
  .filter((each) => each !== 'tags');

describe('handles', () => {
  it('are one or two parts of small letters, digits, "-" and "_"', () => {
    fc.assert(
      fc.property(handle, (each) => {
        expect(handleProblems(each)).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (each) => {
        expect(handleProblems(each).length === 0).toBe(/^[a-z0-9_-]+(\/[a-z0-9_-]+)?$/.test(each) && each !== 'tags');
      }),
    );
  });
});

describe('references', () => {
  const read = (id: string, version: number | null = null, tag: string | null = null) =>
    parseReference({ id, version, tag });

  it('name the newest version, that of a number, or that of a tag, in one way', () => {
    fc.assert(
      fc.property(handle, fc.integer({ min: 1, max: 999_999_999 }), (id, number) => {
        const numbered = { idOrHandle: id, version: { kind: 'number', number } };
        expect(read(`${id}:${number}`)).toEqual(numbered);
        expect(read(id, number)).toEqual(numbered);
        const tagged = { idOrHandle: id, version: { kind: 'tag', name: 'staging' } };
        expect(read(`${id}:staging`)).toEqual(tagged);
        expect(read(id, null, 'staging')).toEqual(tagged);
        const newest = { idOrHandle: id, version: { kind: 'latest' } };
        for (const each of [read(id), read(`${id}:latest`), read(id, null, 'latest')]) expect(each).toEqual(newest);
        for (const [named, version, tag] of [
          [`${id}:1`, 1, null],
          [`${id}:latest`, null, 'a'],
          [id, 1, 'a'],
        ] as const) {
          expect(() => read(named, version, tag)).toThrow('name one version');
        }
      }),
    );
  });

  it.each([':production', 'prompt:', ':', ''])('are refused without a handle or a version: "%s"', (id) => {
    expect(() => read(id)).toThrow('The path is invalid');
  });
});
