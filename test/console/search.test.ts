/** The search parameters of the trace list. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readDatasetSearch } from '../../src/console/datasets/search.ts';
import { readEvaluatorSearch } from '../../src/console/evaluators/search.ts';
import { keepRange, withKeptRange } from '../../src/console/traces/kept-range.ts';
import {
  parseQueryLine,
  sentFilters,
  shownValue,
  toggleFilter,
  typedValue,
  writeQueryLine,
} from '../../src/console/traces/query-line.ts';
import { readBounds, withNamedRange } from '../../src/console/traces/range.ts';
import { type FinderSearch, readTraceListSearch, stateOf } from '../../src/console/traces/search.ts';
import { curlOf, searchBody } from '../../src/console/traces/search-body.ts';
import { toFilterInput } from '../../src/console/traces/search-input.ts';
import { wordsOfSearch } from '../../src/console/traces/search-words.ts';

describe('an address', () => {
  it.each(['0002-01-01T00:00:00Z', '0202-01-01T00:00Z', '20266-01-01T00:00Z', '1999-12-31T23:59:59Z', 'soon'])(
    'with the instant %s means none',
    (from) => {
      expect(readTraceListSearch({ range: 'custom', from })).toEqual({});
      const to = '2026-01-02T00:00:00Z';
      expect(readTraceListSearch({ range: 'custom', from: '2026-01-01T00:00:00Z', to })).toMatchObject({ to });
    },
  );

  it('keeps the name of the default range, which is meant where it is named', () => {
    expect(readTraceListSearch({ range: '30d' })).toEqual({ range: '30d' });
    expect(withNamedRange<FinderSearch>({ q: 'refund' })).toEqual({ q: 'refund', range: '30d' });
    expect(withNamedRange({ range: '7d' })).toEqual({ range: '7d' });
  });

  it('means the same instants at any time where it names them, and others where it names a length', () => {
    const named = { range: 'custom', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
    expect(readBounds(named)).toEqual({ fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 0, 2), isOpen: false });
    const before = Date.now();
    const { fromMs, toMs, isOpen } = readBounds({ range: '1h' });
    expect([toMs - fromMs, isOpen, toMs >= before]).toEqual([3_600_000, true, true]);
  });
});

describe('the range that a tab keeps', () => {
  const kept = new Map<string, string>();
  const read = withKeptRange(readTraceListSearch);
  beforeEach(() => {
    kept.clear();
    vi.stubGlobal('sessionStorage', {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
      removeItem: (name: string) => kept.delete(name),
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  it('begins a page whose address has none', () => {
    keepRange({ range: '7d' });
    expect(read({ q: 'refund' })).toEqual({ q: 'refund', range: '7d' });
    keepRange({ range: '30d' });
    expect(read({ q: 'refund' })).toEqual({ q: 'refund' });
  });

  it('is not taken where the default one is named, however often the address is read', () => {
    keepRange({ range: '7d' });
    expect(read(read({ range: '30d' }))).toEqual({ range: '30d' });
  });

  it.each([{}, { q: 'refund' }, { range: '30d' }])('does not replace that of the saved view %o', (state) => {
    keepRange({ range: '7d' });
    expect(read({ ...stateOf(state), saved: 'savedview_1' })).toMatchObject({ range: '30d' });
    // A link with nothing but the view leads to its state.
    expect(read({ saved: 'savedview_1' })).toEqual({ saved: 'savedview_1' });
  });

  it('is part of a saved view, by its name', () => {
    expect(stateOf({ q: 'refund', live: true })).toEqual({ q: 'refund', range: '30d' });
    expect(stateOf({ range: '30d' })).toEqual(stateOf({}));
    expect(stateOf({ range: '7d' })).toEqual({ range: '7d' });
  });
});

describe('negated filters', () => {
  it.each([
    ['refund', {}],
    ['', {}],
    ['refund model:', {}],
    ['refund model:gpt-5', { not: true }],
  ])('of the line “%s” end with the last filter, because words are never negated', (q, expected) => {
    const named = q === '' ? {} : { q };
    expect(readTraceListSearch({ ...named, not: true })).toEqual({ ...named, ...expected });
    expect(readDatasetSearch({ ...named, not: true, tab: 'traces' })).toEqual({ ...named, ...expected, tab: 'traces' });
    expect(readEvaluatorSearch({ ...named, not: true })).toEqual({ ...named, ...expected });
  });

  it.each([
    [{ q: 'refund' }, ['contain refund']],
    [{ q: 'refund model:gpt-5' }, ['contain refund', 'match model:gpt-5']],
    [{ q: 'refund model:gpt-5', not: true }, ['contain refund', 'do not match model:gpt-5']],
    [{ q: 'model:gpt-5 model:small label:a', not: true }, ['do not match all of model:gpt-5 model:small label:a']],
    [{ q: 'model:gpt-5 model:small', not: true }, ['do not match model:gpt-5 model:small']],
    [{ q: 'duration:>2s' }, ['match duration:2001..']],
    [{}, []],
  ] as const)('and words are said as they are sent: %o', (search, said) => {
    expect(wordsOfSearch(toFilterInput(search)).map(({ words, code }) => `${words} ${code}`)).toEqual(said);
  });

  it('that no line can write are said, too', () => {
    const filters = [{ name: 'events.metrics', key: 'vote', values: ['-1', ''] }];
    expect(wordsOfSearch({ filters })).toEqual([{ words: 'match', code: 'events.metrics.vote: -1, ""' }]);
  });
});

describe('a query line', () => {
  it('names the words that look like filters but are none, and the filters without a value', () => {
    expect(parseQueryLine('foo:bar user: meta.x:1 score:0.2 model:gpt-5')).toEqual({
      text: 'foo:bar score:0.2',
      filters: [
        { name: 'meta.x', value: '1' },
        { name: 'model', value: 'gpt-5' },
      ],
      unknown: ['foo:bar', 'score:0.2'],
      empty: ['user'],
      unreadable: [],
    });
  });

  it.each([
    ['duration:>10s', 'traces.duration_ms', ['10001', ''], '> 10 s'],
    ['duration:>=10s', 'traces.duration_ms', ['10000', ''], '≥ 10 s'],
    ['duration:<1.001S', 'traces.duration_ms', ['', '1000'], '< 1.001 s'],
    ['duration:2s..1m', 'traces.duration_ms', ['2000', '60000'], '2 s – 1 m'],
    ['duration:2..10s', 'traces.duration_ms', ['2000', '10000'], '2 s – 10 s'],
    ['duration:500', 'traces.duration_ms', ['500', '500'], '= 500 ms'],
    ['first-token:..800ms', 'traces.first_token_ms', ['', '800'], '≤ 800 ms'],
    ['tokens:1.5k..', 'traces.total_tokens', ['1500', ''], '≥ 1.5k'],
    ['tokens:<5k', 'traces.total_tokens', ['', '4999'], '< 5k'],
    ['cost:<=0.01', 'traces.total_cost', ['', '0.01'], '≤ $0.01'],
    ['cost:>$0.05', 'traces.total_cost', ['0.05000000000000001', ''], '> $0.05'],
    ['cost:>0', 'traces.total_cost', ['5e-324', ''], '> $0'],
    ['"cost:> $1"', 'traces.total_cost', ['1.0000000000000002', ''], '> $1'],
  ])('reads the range %s', (line, name, values, shown) => {
    // Quotation marks around a whole filter make it text, those around its value do not.
    const { filters, unreadable } = parseQueryLine(line.replace(/^"(\w+):(.*)"$/, '$1:"$2"'));
    expect(unreadable).toEqual([]);
    expect(sentFilters(filters)).toEqual([{ name, values }]);
    expect(filters.map(shownValue)).toEqual([shown]);
    expect(parseQueryLine(writeQueryLine({ text: '', filters })).filters).toEqual(filters);
  });

  it.each([
    'duration:fast',
    'duration:10h',
    'duration:>',
    'duration:..',
    'duration:10s..2s',
    'cost:€5',
    'tokens:1..2..3',
  ])('says that it cannot read %s, and leaves it out', (line) => {
    const { text, filters, unreadable } = parseQueryLine(line);
    const [name = '', value = ''] = line.split(':');
    expect({ text, filters, unreadable }).toEqual({ text: '', filters: [], unreadable: [{ name, value }] });
  });

  it('takes ranges of one number together, values of one name as alternatives, and bounds for a score', () => {
    const { filters } = parseQueryLine(
      'duration:>=2s model:a duration:<=10s model:b score.tone:>=0.5 score.tone:0..0.8',
    );
    expect(sentFilters(filters)).toEqual([
      { name: 'traces.duration_ms', values: ['2000', '10000'] },
      { name: 'spans.model', values: ['a', 'b'] },
      { name: 'evaluations.score', key: 'tone', values: ['0.5', '0.8'] },
    ]);
    const [{ values = [] } = {}] = sentFilters(parseQueryLine('score.tone:<=0.5').filters);
    expect(values.map(Number)).toEqual([-Number.MAX_VALUE, 0.5]);
  });

  it.each(['say "hi"', 'two  spaces', 'model:gpt-5', 'model: ', 'a\nb', 'back\\slash "', 'foo:bar', 'plain'])(
    'is read back with the words %j as they are',
    (text) => expect(parseQueryLine(writeQueryLine({ text, filters: [] }))).toMatchObject({ text, filters: [] }),
  );

  it('gets a filter by a click, and loses it by the next', () => {
    const filter = { name: 'label', value: 'two words' };
    const line = toggleFilter('late user:ada', filter);
    expect(line).toBe('late user:ada label:"two words"');
    expect(toggleFilter(line, filter)).toBe('late user:ada');
  });

  it.each([
    ['late model:gp|', { name: 'model', prefix: 'gp', before: 'late ', after: '' }],
    ['model:| user:ada', { name: 'model', prefix: '', before: '', after: ' user:ada' }],
    ['label:"two w|ords" x', { name: 'label', prefix: 'two w', before: '', after: ' x' }],
    ['"meta.a b":c|', { name: 'meta.a b', prefix: 'c', before: '', after: '' }],
    ['model|:gpt', null],
    ['model:gpt |', null],
    ['duration:>1|', null],
    ['foo:b|', null],
  ])('with the caret at %s has this value to complete', (marked, expected) => {
    expect(typedValue(marked.replace('|', ''), marked.indexOf('|'))).toEqual(expected);
  });

  it.each(['https://shop.test', '12:30', '"foo:bar"', 'plain'])('takes %s for text', (line) => {
    expect(parseQueryLine(line).unknown).toEqual([]);
  });
});

describe('a search', () => {
  it('is copied for a shell whole, without the key, and as text', () => {
    const from = '2026-01-01T00:00:00Z';
    const search = { q: `it's "$HOME" user:ada`, range: 'custom', from, sort: 'cost', not: true } as const;
    expect(JSON.parse(searchBody(search))).toEqual({
      query: "it's $HOME",
      filters: { 'metadata.user_id': ['ada'] },
      negateFilters: true,
      startDate: Date.UTC(2026, 0, 1),
      sortBy: 'total_cost',
    });
    const command = curlOf(search, { origin: 'http://127.0.0.1:5560', projectId: 'project_1' });
    expect(command).toContain(`-d '{"query":"it'\\''s $HOME"`);
    expect(command).toContain('-H "X-Auth-Token: $SPANDREL_PROJECT_KEY"');
    expect(command).toContain("-H 'X-Project-Id: project_1'");
  });
});
