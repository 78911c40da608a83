import { describe, expect, it } from 'vitest';
import { foldText } from '../../../../src/domain/traces/search/fold-text.ts';

const CHARACTERS = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => !/\p{Unassigned}/u.test(character));

/** Its capital is `I`, but it folds to itself. */
const DOTLESS_I = 'ı';
const CHANGES = /\p{Changes_When_NFKC_Casefolded}/u;
const IGNORED = /\p{Default_Ignorable_Code_Point}/u;

/** The characters for which a rule does not hold. */
const breaking = (holds: (character: string) => boolean) =>
  CHARACTERS.filter((character) => !holds(character)).map((character) => character.codePointAt(0)?.toString(16));

describe('the folded form of a text', () => {
  it('folds exactly the characters that Unicode folds', () => {
    // The lower case of Cherokee is younger than its capitals, to which Unicode folds it.
    const cherokee = /\p{Script=Cherokee}/u;
    const others = breaking(
      (each) => cherokee.test(each) || IGNORED.test(each) || (foldText(each) !== each) === CHANGES.test(each),
    );
    expect(others).toEqual([]);
  });

  it('is the same for all letter cases of a character', () => {
    const isCommon = (each: string) => {
      const folded = foldText(each);
      const cases = [each.toLowerCase(), each.toUpperCase(), each.toUpperCase().toLowerCase()];
      return cases.every((other) => foldText(other) === folded);
    };
    expect(breaking(isCommon)).toEqual([DOTLESS_I.codePointAt(0)?.toString(16)]);
  });

  it('is the same for characters that Unicode folds to the same single character', () => {
    const simple = (one: string, other: string) =>
      new RegExp(`^\\u{${one.codePointAt(0)?.toString(16)}}$`, 'iu').test(other);
    const cased = CHARACTERS.filter((each) => /\p{Changes_When_Casefolded}|\p{Cased}/u.test(each));
    const different = cased.filter((each) => {
      const others = new Set([each.toLowerCase(), each.toUpperCase(), each.toUpperCase().toLowerCase()]);
      return [...others].some(
        (other) => [...other].length === 1 && simple(each, other) && foldText(each) !== foldText(other),
      );
    });
    expect(different).toEqual([]);
  });

  it('is the same for composed, decomposed and compatible forms, and folding it again changes nothing', () => {
    const isStable = (each: string) => {
      const folded = foldText(each);
      const forms = [folded, each.normalize('NFC'), each.normalize('NFD'), each.normalize('NFKC')];
      return forms.every((other) => foldText(other) === folded);
    };
    expect(breaking(isStable)).toEqual([]);
  });

  it('folds what single characters do not show', () => {
    expect(foldText('STRASSE ẞ ß')).toBe('strasse ss ss');
    expect(foldText('ΣΊΣΥΦΟΣ')).toBe(foldText('σίσυφος'));
    expect(foldText('E\u0301clair')).toBe(foldText('éCLAIR'));
    expect(foldText('ＡＢＣ１２３ ﬁn ①')).toBe('abc123 fin 1');
    expect(foldText('İstanbul ısı')).toBe('i̇stanbul ısı');
    expect(foldText('ᾳ ᾼ ΑΙ')).toBe('αι αι αι');
    expect(foldText('ｶﾞ')).toBe('ガ');
  });
});
