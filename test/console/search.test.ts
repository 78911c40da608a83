/** The search parameters of the trace list. */

import { describe, expect, it } from 'vitest';
import { parseQueryLine } from '../../src/console/traces/query-line.ts';
import { readBounds } from '../../src/console/traces/range.ts';
import { readTraceListSearch } from '../../src/console/traces/search.ts';
import { curlOf, searchBody } from '../../src/console/traces/search-body.ts';

describe('an address', () => {
  it.each(['0002-01-01T00:00:00Z', '0202-01-01T00:00Z', '20266-01-01T00:00Z', '1999-12-31T23:59:59Z', 'soon'])(
    'with the instant %s means none',
    (from) => {
      expect(readTraceListSearch({ range: 'custom', from })).toEqual({});
      const to = '2026-01-02T00:00:00Z';
      expect(readTraceListSearch({ range: 'custom', from: '2026-01-01T00:00:00Z', to })).toMatchObject({ to });
    },
  );

  it('means the same instants at any time where it names them, and others where it names a length', () => {
    const named = { range: 'custom', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
    expect(readBounds(named)).toEqual({ fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 0, 2), isOpen: false });
    const before = Date.now();
    const { fromMs, toMs, isOpen } = readBounds({ range: '1h' });
    expect([toMs - fromMs, isOpen, toMs >= before]).toEqual([3_600_000, true, true]);
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
    });
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
