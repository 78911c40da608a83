import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/json/canonical-json.ts';
import { parseFreeJson } from '../../src/json/free-json.ts';

describe('canonical JSON', () => {
  it('gives the example of the RFC', () => {
    const sent = String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
      "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`;
    expect(canonicalJson(parseFreeJson(sent))).toBe(
      `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts members by UTF-16 code units, at every depth', () => {
    const sent = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: { b: 1, a: [{}] } };
    const names = Object.keys(JSON.parse(canonicalJson(sent)));
    expect(names).toEqual(['1', '\r', '\u0080', 'ö', '\u20ac', '\ud83d\ude00', '\ufb33']);
    expect(canonicalJson(sent)).toContain('{"a":[{}],"b":1}');
  });

  it('leaves out members that are not set', () => {
    const unset: { readonly [key: string]: string } = JSON.parse('{"a":"1"}');
    expect(canonicalJson({ ...unset, b: unset.b as unknown as string })).toBe('{"a":"1"}');
  });

  it('is the same for every order of members, __proto__ among them', () => {
    const one = JSON.parse('{"__proto__":{"b":1,"a":2},"constructor":1}');
    const other = JSON.parse('{"constructor":1,"__proto__":{"a":2,"b":1}}');
    expect(canonicalJson(one)).toBe('{"__proto__":{"a":2,"b":1},"constructor":1}');
    expect(canonicalJson(other)).toBe(canonicalJson(one));
  });
});
