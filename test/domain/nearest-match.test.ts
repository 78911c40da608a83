import { describe, expect, it } from 'vitest';
import { nearestMatch } from '../../src/domain/nearest-match.ts';

const KNOWN = ['PORT', 'HOST', 'DATABASE_URL', 'LOG_LEVEL', 'SECRET', 'TLS_CERT', 'TLS_KEY'];

describe('the nearest match', () => {
  it.each([
    ['PROT', 'PORT'],
    ['PRT', 'PORT'],
    ['PORTS', 'PORT'],
    ['HOSZ', 'HOST'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['TLS_KYE', 'TLS_KEY'],
    ['DB_URL', 'DATABASE_URL'],
    ['SECRET', 'SECRET'],
  ])('finds what %s was meant to be', (text, meant) => {
    expect(nearestMatch(text, KNOWN)).toBe(meant);
  });

  it('names nothing for what resembles nothing', () => {
    expect(nearestMatch('', KNOWN)).toBeNull();
    expect(nearestMatch('FOO', KNOWN)).toBeNull();
    expect(nearestMatch('COMPLETELY_DIFFERENT', KNOWN)).toBeNull();
    expect(nearestMatch('PORT', [])).toBeNull();
  });

  it('takes the first of those that are equally near', () => {
    expect(nearestMatch('b:view', ['a:view', 'c:view'])).toBe('a:view');
    expect(nearestMatch('b:view', ['c:view', 'a:view'])).toBe('c:view');
  });

  it('spends nothing on texts too long to be a slip', () => {
    expect(nearestMatch('P'.repeat(1_000_000), KNOWN)).toBeNull();
  });

  it('counts two swapped neighbours as one difference', () => {
    expect(nearestMatch('ab', ['ba'])).toBe('ba');
  });
});
