import { expect, it } from 'vitest';
import { readFilters } from '../../../../src/domain/traces/search/trace-search-query.ts';

function refusedAs(message: string) {
  return { conditions: [], reasons: [{ field: 'filters', type: 'custom', message }] };
}

it('filters that are too deep, too wide, of too many long numbers, or no JSON are refused before they are built', () => {
  const tooMany = `{"metadata.value":{"n":[${Array.from({ length: 30_000 }, () => '12345678901234567890').join()}]}}`;
  const wide = `{"metadata.value":{${Array.from({ length: 20_000 }, (_, index) => `"${index}":[]`).join()}}}`;
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const refused = refusedAs('filters is not valid JSON, or exceeds its limits');
  for (const json of [tooMany, wide, deep, '{"spans.type":', '{bad', '', '{"spans.type":[1e999]}']) {
    expect(readFilters(json), json.slice(0, 40)).toEqual(refused);
  }
});

it('filters in JSON of another type are refused as such', () => {
  for (const json of ['7', '[]', '"x"']) expect(readFilters(json)).toEqual(refusedAs('filters must be an object'));
});

it('a filter of too many keys is refused as one', () => {
  const keys = Array.from({ length: 1_001 }, (_, index) => `"${index}":7`);
  const { reasons } = readFilters(`{"metadata.value":{${keys.join()}}}`);
  expect(reasons.map(({ field }) => field)).toEqual(['filters.metadata.value']);
});

it.each([
  ['metadata.userid', ', the nearest is metadata.user_id'],
  ['span.model', ', the nearest is spans.model'],
  ['user_id', ', the nearest is metadata.user_id'],
  ['metadata.tier', ''],
])('an unknown filter %s gets the nearest name suggested, if one is near', (name, suggestion) => {
  const field = `filters.${name}`;
  expect(readFilters(JSON.stringify({ [name]: ['x'] })).reasons).toEqual([
    { field, type: 'custom', message: `${field} is not a filter${suggestion}; docs/search.md lists them all` },
  ]);
});

it.each([
  ['"user-1"', 'string'],
  ['7', 'number'],
  ['true', 'boolean'],
  ['{"is":"user-1"}', 'object'],
])('a filter of %s is refused as one that needs a list, with the type that was sent', (value, received) => {
  const field = 'filters.metadata.user_id';
  const message = `${field} must be a list of strings, such as ["one"]`;
  expect(readFilters(`{"metadata.user_id":${value}}`).reasons).toEqual([
    { field, type: 'invalid_type', message, expected: 'array', received },
  ]);
});

it('filters are read with their escapes, and null is as good as none', () => {
  const { conditions, reasons } = readFilters('{"metadata.labels":["a\\u00e9\\ud800"],"spans.type":null}');
  expect(reasons).toEqual([]);
  expect(conditions).toEqual([{ name: 'metadata.labels', of: '', values: ['a\u00e9\ufffd'] }]);
  for (const json of ['null', null, '{}']) expect(readFilters(json)).toEqual({ conditions: [], reasons: [] });
});

it.each([
  ['traces.duration_ms', ['1', '2', '3'], ', of which either may be empty'],
  ['traces.first_token_ms', ['1'], ', of which either may be empty'],
  ['traces.total_cost', ['', 'Infinity'], ', of which either may be empty'],
  ['traces.total_tokens', ['ten', ''], ', of which either may be empty'],
])('a range %s of %j is refused by what a range is', (name, values, either) => {
  const field = `filters.${name}`;
  const message = `${field} must be a least and a greatest number, as strings${either}`;
  expect(readFilters(JSON.stringify({ [name]: values })).reasons).toEqual([{ field, type: 'custom', message }]);
});

it('either bound of a range of traces may be empty, but none of a range of scores', () => {
  const ranges = ['duration_ms', 'total_cost', 'total_tokens', 'first_token_ms'].map((name) => `traces.${name}`);
  for (const name of ranges) {
    for (const values of [
      ['', '-1.5'],
      ['1e3', ''],
      ['', ''],
    ]) {
      expect(readFilters(JSON.stringify({ [name]: values }))).toEqual({
        conditions: [{ name, of: '', values }],
        reasons: [],
      });
    }
  }
  const field = 'filters.evaluations.score.tone';
  expect(readFilters('{"evaluations.score":{"tone":["","1"]}}').reasons).toEqual([
    { field, type: 'custom', message: `${field} must be a least and a greatest number, as strings` },
  ]);
});
