import { expect, it } from 'vitest';
import { readFilters } from '../../../../src/domain/traces/search/trace-search-query.ts';

const filter = (name: string, values: readonly string[], key: string | null = null) => ({ name, key, values });

it('more than 1,000 filters are refused as one problem', () => {
  const filters = Array.from({ length: 1_001 }, (_, index) => filter('metadata.value', ['x'], String(index)));
  const { reasons, conditions } = readFilters(filters);
  expect([reasons.map(({ field }) => field), conditions]).toEqual([['filters'], []]);
});

it('a filter of values by key needs a key, and no other takes one', () => {
  const { reasons } = readFilters([filter('metadata.value', ['x']), filter('metadata.user_id', ['x'], 'is')]);
  expect(reasons.map(({ field, message }) => [field, message])).toEqual([
    ['filters.metadata.value', 'filters.metadata.value must be an object: its values are by key'],
    ['filters.metadata.user_id', 'filters.metadata.user_id must be a list of strings, such as ["one"]'],
  ]);
});

it('a value of more than 1,024 characters is refused by its place', () => {
  const { reasons } = readFilters([filter('spans.model', ['gpt-5', '\u{1f600}'.repeat(1_024), 'x'.repeat(1_025)])]);
  expect(reasons.map(({ field }) => field)).toEqual(['filters.spans.model.2']);
});

it.each([
  ['metadata.userid', ', the nearest is metadata.user_id'],
  ['span.model', ', the nearest is spans.model'],
  ['user_id', ', the nearest is metadata.user_id'],
  ['metadata.tier', ''],
])('an unknown filter %s gets the nearest name suggested, if one is near', (name, suggestion) => {
  const field = `filters.${name}`;
  expect(readFilters([filter(name, ['x'])]).reasons).toEqual([
    { field, type: 'custom', message: `${field} is not a filter${suggestion}; docs/search.md lists them all` },
  ]);
});

it('a filter without values has no effect', () => {
  for (const filters of [[], [filter('spans.type', [])], [filter('metadata.value', [], 'plan')]]) {
    expect(readFilters(filters)).toEqual({ conditions: [], reasons: [] });
  }
});

it.each([
  ['traces.duration_ms', ['1', '2', '3'], ', of which either may be empty'],
  ['traces.first_token_ms', ['1'], ', of which either may be empty'],
  ['traces.total_cost', ['', 'Infinity'], ', of which either may be empty'],
  ['traces.total_tokens', ['ten', ''], ', of which either may be empty'],
])('a range %s of %j is refused by what a range is', (name, values, either) => {
  const field = `filters.${name}`;
  const message = `${field} must be a least and a greatest number, as strings${either}`;
  expect(readFilters([filter(name, values)]).reasons).toEqual([{ field, type: 'custom', message }]);
});

it('either bound of a range of traces may be empty, but none of a range of scores', () => {
  const ranges = ['duration_ms', 'total_cost', 'total_tokens', 'first_token_ms'].map((name) => `traces.${name}`);
  for (const name of ranges) {
    for (const values of [
      ['', '-1.5'],
      ['1e3', ''],
      ['', ''],
    ]) {
      expect(readFilters([filter(name, values)])).toEqual({
        conditions: [{ name, of: '', values }],
        reasons: [],
      });
    }
  }
  const field = 'filters.evaluations.score.tone';
  expect(readFilters([filter('evaluations.score', ['', '1'], 'tone')]).reasons).toEqual([
    { field, type: 'custom', message: `${field} must be a least and a greatest number, as strings` },
  ]);
});
