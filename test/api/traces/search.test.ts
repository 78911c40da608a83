import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SortDirection, TraceService, TraceSort } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex } from '../../support/fixtures.ts';
import { rpcFilters } from '../../support/rpc-filters.ts';
import { type Body, callRest, callRpc, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { searchTraces, getThread, validateCredential } = TraceService.method;
const START = Date.now() - 3_600_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

async function send(body: object): Promise<void> {
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
}

type Sent = {
  readonly id?: string;
  readonly atMs?: number;
  readonly metadata?: object;
  readonly input?: string;
  readonly output?: string;
  readonly span?: object;
  readonly evaluations?: readonly object[];
};

async function sendTrace({ id = hex(32), atMs = START, metadata = {}, span = {}, ...sent }: Sent): Promise<string> {
  const one = {
    type: 'llm',
    span_id: hex(16),
    timestamps: { started_at: atMs, finished_at: atMs + 100 },
    ...(sent.input === undefined ? {} : { input: { type: 'text', value: sent.input } }),
    ...(sent.output === undefined ? {} : { output: { type: 'text', value: sent.output } }),
    ...span,
  };
  await send({ trace_id: id, spans: [one], metadata, evaluations: sent.evaluations ?? [] });
  return id;
}

/** Restricts a search to one group, so that cases do not find each other's traces. */
function inGroup(group: string): object {
  return { 'metadata.value': { group: [group] } };
}

async function search(body: object): Promise<Body> {
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/traces/search', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function idsOf(body: object): Promise<readonly string[]> {
  return (await search(body)).traces.map((trace: Body) => trace.trace_id);
}

function searchCase(body: object, request: object, each: Partial<SurfaceCase> & { status: number }): SurfaceCase {
  return {
    name: JSON.stringify(body),
    headers: key(),
    rest: { verb: 'POST', path: '/api/traces/search', body },
    rpc: { method: searchTraces, request },
    ...each,
  } as SurfaceCase;
}

describe('searching traces, over REST and gRPC', () => {
  it('a row is the trace without its tree and its spans', async () => {
    const metadata = { group: 'rows', user_id: 'u' };
    const traceId = await sendTrace({ metadata, input: 'What?', output: 'That.', span: { model: 'gpt-5' } });
    const filters = inGroup('rows');
    const check = (body: Body) => {
      expect(body.pagination).toEqual({ totalHits: 1, totalHitsRelation: 'eq' });
      expect(body.traces).toHaveLength(1);
      expect(body.traces[0]).toMatchObject({
        trace_id: traceId,
        metadata,
        models: ['gpt-5'],
        input: { value: 'What?' },
        output: { value: 'That.' },
        spans: [],
        span_count: 1,
        evaluations: [],
      });
      expect(body.traces[0]).not.toHaveProperty('ascii_tree');
    };
    const request = { filters: rpcFilters(filters) };
    await expectEverywhere(app.address, searchCase({ filters }, request, { status: 200, check }));
    const alias = { verb: 'POST', path: '/api/trace/search', body: { filters } };
    await expectEverywhere(app.address, { ...searchCase({ filters }, request, { status: 200, check }), rest: alias });
    const [row] = (await search({ filters, includeSpans: true })).traces;
    expect(row.spans).toHaveLength(1);
    expect(row.spans_next_cursor).toBeNull();
  });

  it('a digest is a short text', async () => {
    const metadata = { group: 'digests' };
    await sendTrace({ metadata, input: 'i'.repeat(300), output: 'out' });
    const filters = inGroup('digests');
    const check = (body: Body) => {
      const [row] = body.traces;
      expect(row.formatted_trace).toBe(`Input: ${'i'.repeat(200)}\nOutput: out`);
      expect(Object.keys(row)).toEqual([
        ...['trace_id', 'formatted_trace', 'input', 'output', 'timestamps', 'metadata', 'error', 'evaluations'],
        'platformUrl',
      ]);
    };
    const sent = rpcFilters(filters);
    await expectEverywhere(
      app.address,
      searchCase({ filters, format: 'digest' }, { filters: sent, format: 2 }, { status: 200, check }),
    );
    await expectEverywhere(
      app.address,
      searchCase({ filters, llmMode: true }, { filters: sent, llmMode: true }, { status: 200, check }),
    );
  });

  it('a trace is found as soon as it is acknowledged, and not any more once it is removed', async () => {
    const filters = inGroup('fresh');
    for (let round = 0; round < 5; round += 1) {
      const traceId = await sendTrace({ metadata: { group: 'fresh' }, atMs: START + round });
      expect((await idsOf({ filters }))[0]).toBe(traceId);
      if (round % 2 === 0) continue;
      await callRest(app.address, { verb: 'DELETE', path: `/api/traces/${traceId}`, headers: key() });
      expect(await idsOf({ filters })).not.toContain(traceId);
    }
  });

  it('T11: a walk visits each trace once for every sort, and an altered query is refused', async () => {
    const group = 'walks';
    const ids: string[] = [];
    for (let index = 0; index < 23; index += 1) {
      const atMs = START + Math.floor(index / 3) * 10;
      const timestamps = {
        started_at: atMs,
        finished_at: atMs + ((index * 7) % 5) * 10,
        ...(index % 2 === 0 ? { first_token_at: atMs + (index % 4) } : {}),
      };
      const metrics = index % 3 === 0 ? {} : { prompt_tokens: 1, cost: (index % 4) / 100 };
      // Ids in every stored form.
      const id = index % 2 === 0 ? hex(32) : `trace-é${index}`;
      ids.push(await sendTrace({ id, metadata: { group }, span: { timestamps, metrics } }));
    }
    await send({ trace_id: 'no-spans', metadata: { group } });
    ids.push('no-spans');
    const keyOf: Readonly<Record<string, (trace: Body) => number | null>> = {
      started_at: (trace) => trace.timestamps.started_at,
      total_cost: (trace) => trace.metrics.total_cost,
      total_time_ms: (trace) => trace.metrics.total_time_ms,
      first_token_ms: (trace) => trace.metrics.first_token_ms,
    };
    for (const sortBy of Object.keys(keyOf)) {
      for (const sortDirection of ['asc', 'desc']) {
        const query = { filters: inGroup(group), sortBy, sortDirection };
        const rows: Body[] = [];
        let scrollId: string | undefined;
        do {
          const page: Body = await search({ ...query, pageSize: 1 + (rows.length % 5), scrollId: scrollId ?? null });
          expect(page.pagination).toMatchObject({ totalHits: ids.length, totalHitsRelation: 'eq' });
          rows.push(...page.traces);
          scrollId = page.pagination.scrollId;
        } while (scrollId !== undefined);
        expect(rows.map((row) => row.trace_id).sort()).toEqual(ids.toSorted());
        const sign = sortDirection === 'asc' ? 1 : -1;
        const inOrder = rows.toSorted((one, other) => {
          const [a, b] = [keyOf[sortBy]?.(one) ?? null, keyOf[sortBy]?.(other) ?? null];
          if (a !== null && b !== null && a !== b) return sign * (a - b);
          if ((a === null) !== (b === null)) return a === null ? 1 : -1;
          return sign * Buffer.compare(Buffer.from(one.trace_id), Buffer.from(other.trace_id));
        });
        expect(rows.map((row) => row.trace_id)).toEqual(inOrder.map((row) => row.trace_id));
      }
    }
    const query = { filters: inGroup(group), pageSize: 3 };
    const { scrollId } = (await search(query)).pagination;
    const altered: readonly (readonly [object, object])[] = [
      [{ sortBy: 'total_cost' }, { sortBy: TraceSort.TOTAL_COST }],
      [{ sortDirection: 'asc' }, { sortDirection: SortDirection.ASC }],
      [{ query: 'x' }, { query: 'x' }],
      [{ negateFilters: true }, { negateFilters: true }],
      [{ traceIds: ['x'] }, { traceIds: ['x'] }],
      [{ filters: inGroup('other') }, { filters: rpcFilters(inGroup('other')) }],
      [{ scrollId: 'x' }, { pageToken: 'x' }],
      [{ endDate: Date.now() }, { endDate: { seconds: 1_900_000_000n, nanos: 0 } }],
    ];
    const check = (body: Body) => expect(body.message).toBe('scrollId is not valid for this query');
    for (const [body, request] of altered) {
      const refused = { status: 400, code: 'invalid_scroll_id', check };
      const rpc = { filters: rpcFilters(query.filters), pageToken: scrollId, ...request };
      await expectEverywhere(app.address, searchCase({ ...query, scrollId, ...body }, rpc, refused));
    }
  });

  it('finds by every filter, by their opposite, and by one of several values', async () => {
    const group = 'filters';
    const evaluations = [
      { name: 'tone', evaluator_id: 'tone', passed: true, score: 0.5, label: 'kind', is_guardrail: true },
    ];
    const metadata = { group, user_id: 'us"er', thread_id: 'th%', customer_id: '😀', labels: ['a', 'b"'] };
    const full = await sendTrace({
      metadata: { ...metadata, n: 12345678901234567890n.toString(), prompt_ids: ['p1', 'p2'], origin: 'evaluation' },
      span: { name: 'root', model: 'gpt-5', type: 'agent', error: 'broken' },
      evaluations,
    });
    const bare = await sendTrace({ metadata: { group, number: 7 } });
    const finding: readonly object[] = [
      { 'metadata.user_id': ['other', 'us"er'] },
      { 'metadata.user_id': ['us"er'] },
      { 'metadata.thread_id': ['th%'] },
      { 'metadata.customer_id': ['😀'] },
      { 'metadata.labels': ['b"'] },
      { 'metadata.key': ['user_id'] },
      { 'metadata.prompt_ids': ['p2'] },
      { 'metadata.value': { origin: ['evaluation'] } },
      { 'traces.origin': ['evaluation'] },
      { 'traces.name': ['root'] },
      { 'traces.error': ['true'] },
      { 'spans.type': ['tool', 'agent'] },
      { 'spans.model': ['gpt-5'] },
      { 'evaluations.evaluator_id': ['tone'] },
      { 'evaluations.evaluator_id.guardrails_only': ['tone'] },
      { 'evaluations.evaluator_id.has_passed': ['tone'] },
      { 'evaluations.evaluator_id.has_score': ['tone'] },
      { 'evaluations.evaluator_id.has_label': ['tone'] },
      { 'evaluations.passed': { tone: ['true'] } },
      { 'evaluations.state': { tone: ['processed'] } },
      { 'evaluations.label': { tone: ['kind'] } },
      { 'evaluations.score': { tone: ['0.5', '1'] } },
    ];
    const of = { 'metadata.value': { group: [group] } };
    for (const filter of finding) {
      const filters = {
        ...of,
        ...filter,
        ...('metadata.value' in filter
          ? { 'metadata.value': { group: [group], ...(filter['metadata.value'] as object) } }
          : {}),
      };
      expect(await idsOf({ filters }), JSON.stringify(filter)).toEqual([full]);
      const others = await idsOf({ filters, negateFilters: true, traceIds: [full, bare] });
      expect(others, JSON.stringify(filter)).toEqual([bare]);
    }
    const missing: readonly object[] = [
      { 'metadata.user_id': ['us'] },
      { 'traces.error': ['false'], 'spans.model': ['gpt-5'] },
      { 'evaluations.score': { tone: ['0.6', '1'] } },
      { 'evaluations.passed': { tone: ['false'] } },
      { 'metadata.key': ['__proto__'] },
    ];
    for (const filter of missing) expect(await idsOf({ filters: { ...of, ...filter } })).toEqual([]);
    expect(await idsOf({ filters: { ...of, 'metadata.labels': [], 'traces.origin': ['application'] } })).toEqual([
      bare,
    ]);
    expect(await idsOf({ filters: { 'metadata.value': { number: ['7'] } } })).toEqual([bare]);
    const byId = await idsOf({ traceIds: [bare.toUpperCase(), full, 'unknown'], sortDirection: 'asc' });
    expect(byId.toSorted()).toEqual([bare, full].sort());
  });

  it('T11: a text is looked for in every letter case, and % and _ stand for themselves', async () => {
    const group = 'texts';
    const chat = { type: 'chat_messages', value: [{ role: 'user', content: 'Zurück 100%' }] };
    const first = await sendTrace({ metadata: { group }, span: { input: chat, name: 'Planner_1' } });
    const second = await sendTrace({ metadata: { group }, output: 'ANSWER', span: { error: 'Timed out' } });
    const find = (query: string) => idsOf({ query, filters: inGroup(group), sortDirection: 'asc' });
    expect(await find('zURÜCK')).toEqual([first]);
    expect(await find('%')).toEqual([first]);
    expect(await find('_')).toEqual([first]);
    expect(await find('planner')).toEqual([first]);
    expect(await find('answer')).toEqual([second]);
    expect(await find('timed')).toEqual([second]);
    expect(await find('x')).toEqual([]);
    // The search matches the readable text, not its stored form.
    expect(await find('chat_messages')).toEqual([]);
    expect((await find('')).toSorted()).toEqual([first, second].sort());
  });

  it('a text is looked for in every span: in JSON without its escapes, and in every form of its characters', async () => {
    const group = 'every span';
    const system = { role: 'system', content: 'You speak like a pangolin.' };
    const chat = { type: 'chat_messages', value: [system, { role: 'user', content: 'hi' }] };
    const note = { type: 'json', value: { note: 'she said "hi"\nC:\\temp\\new', order: 4711 } };
    const atMs = START;
    const child = (more: object) => ({
      ...{ type: 'llm', span_id: hex(16), parent_id: 'root', timestamps: { started_at: atMs, finished_at: atMs } },
      ...more,
    });
    const id = hex(32);
    await send({
      trace_id: id,
      metadata: { group },
      spans: [
        { ...child({ span_id: 'root', input: { type: 'text', value: 'plain' } }), parent_id: null },
        child({ input: chat, output: note }),
        child({
          name: 'Look up',
          error: 'Out of RANGE',
          output: { type: 'text', value: 'e\u0301clair, ＦＵＬＬ STRASSE' },
        }),
      ],
    });
    const filters = inGroup(group);
    const found = [
      'pangolin',
      'HI"\nc:\\temp\\new',
      '4711',
      'look up',
      'out of range',
      'Éclair',
      'full straße',
      'plain',
    ];
    for (const query of found) {
      const check = (body: Body) => expect(body.traces.map((row: Body) => row.trace_id)).toEqual([id]);
      const request = { filters: rpcFilters(filters), query };
      await expectEverywhere(app.address, searchCase({ filters, query }, request, { status: 200, check }));
    }
    for (const query of ['\\"hi', 'content', 'order', 'system']) expect(await idsOf({ filters, query })).toEqual([]);
  });

  it('a text is looked for in the first 64 KiB of each span, however long the text itself is', async () => {
    const input = `${'long '.repeat(13_000)}end`;
    const traceId = await sendTrace({ metadata: { group: 'long' }, input, output: `${'x'.repeat(600)} unread` });
    expect(await idsOf({ query: input.slice(5).toUpperCase() })).toEqual([traceId]);
    expect(await idsOf({ query: `${input}.` })).toEqual([]);
    expect(await idsOf({ query: ' unread' })).toEqual([]);
  });

  it('ranges of duration, cost, tokens and first token include their ends, and leave out traces without a value', async () => {
    const group = 'ranges';
    const metrics = { prompt_tokens: 10, completion_tokens: 5, cost: 0.1 };
    const timestamps = { started_at: START, finished_at: START + 100, first_token_at: START + 40 };
    const counted = await sendTrace({ metadata: { group }, span: { metrics, timestamps } });
    const bare = await sendTrace({ metadata: { group }, atMs: START + 1 });
    const cases: readonly (readonly [name: string, least: string, greatest: string, found: readonly string[]])[] = [
      ['traces.duration_ms', '100', '100', [counted, bare]],
      ['traces.duration_ms', '100.5', '', []],
      ['traces.total_cost', '0.1', '0.1', [counted]],
      ['traces.total_cost', '', '0.0999999999', []],
      ['traces.total_cost', '0.1000000001', '', []],
      ['traces.total_cost', '', '', [counted]],
      ['traces.total_tokens', '15', '', [counted]],
      ['traces.total_tokens', '', '14', []],
      ['traces.first_token_ms', '40', '41', [counted]],
      ['traces.first_token_ms', '41', '40', []],
    ];
    for (const [name, least, greatest, found] of cases) {
      const filters = { ...inGroup(group), [name]: [least, greatest] };
      const check = (body: Body) => {
        expect(body.traces.map((row: Body) => row.trace_id)).toEqual(found);
        expect(body.pagination).toEqual({ totalHits: found.length, totalHitsRelation: 'eq' });
      };
      const request = { filters: rpcFilters(filters), sortDirection: SortDirection.ASC };
      const sent = { filters, sortDirection: 'asc' };
      await expectEverywhere(app.address, searchCase(sent, request, { status: 200, check }));
    }
    const unlike = {
      filters: { 'metadata.value': { group: [group] }, 'traces.total_cost': ['', ''] },
      negateFilters: true,
    };
    expect(await idsOf({ ...unlike, traceIds: [counted, bare] })).toEqual([bare]);
  });

  it('a scrollId of a range is not valid for the reverse range', async () => {
    const group = 'reverse';
    for (const atMs of [START, START + 1]) await sendTrace({ metadata: { group }, atMs });
    for (const range of [
      (...values: readonly string[]) => ({ 'traces.duration_ms': values }),
      (...values: readonly string[]) => ({ 'events.metrics': { vote: values } }),
      (...values: readonly string[]) => ({ 'annotations.score': { quality: values } }),
    ]) {
      const sentWith = (...values: readonly string[]) =>
        // Nothing has such an event or score.
        ({ ...inGroup(group), ...range(...values) });
      const negateFilters = !('traces.duration_ms' in range());
      const { scrollId } = (await search({ filters: sentWith('1', '200'), pageSize: 1, negateFilters })).pagination;
      const body = { filters: sentWith('200', '1'), pageSize: 1, negateFilters, scrollId };
      const request = { filters: rpcFilters(body.filters), pageSize: 1, negateFilters, pageToken: scrollId };
      await expectEverywhere(app.address, searchCase(body, request, { status: 400, code: 'invalid_scroll_id' }));
    }
  });

  it('dates are numbers, texts of digits or ISO 8601, both included, of the start or of the last change', async () => {
    const group = 'dates';
    const atMs = START - 60 * 86_400_000;
    const traceId = await sendTrace({ metadata: { group }, atMs });
    const filters = inGroup(group);
    expect(await idsOf({ filters })).toEqual([]);
    expect(await idsOf({ filters, dateField: 'updated' })).toEqual([traceId]);
    for (const date of [atMs, String(atMs), new Date(atMs).toISOString()]) {
      expect(await idsOf({ filters, startDate: date, endDate: date })).toEqual([traceId]);
    }
    for (const date of [`${atMs}.25`, `${atMs - 1}.750000001`]) {
      expect(await idsOf({ filters, startDate: date, endDate: date }), String(date)).toEqual([traceId]);
    }
    for (const early of ['0', '1', '86400000.5', '1970-01-01T10:00', '1970-01-01T10:00Z', '1970-01-01T10:00:00+0100']) {
      expect(await idsOf({ filters, startDate: early }), String(early)).toEqual([traceId]);
      expect(await idsOf({ filters, startDate: 0, endDate: early })).toEqual([]);
    }
    expect(await idsOf({ filters, startDate: atMs + 1 })).toEqual([]);
    expect(await idsOf({ filters, startDate: atMs - 2, endDate: atMs - 1 })).toEqual([]);
  });

  const FILTERS_REFUSED = [
    [{ nope: ['x'] }, 'filters.nope'],
    [{ 'traces.total_cost': ['1'] }, 'filters.traces.total_cost'],
    [{ 'traces.duration_ms': ['fast', ''] }, 'filters.traces.duration_ms'],
    [{ 'metadata.value': ['one'] }, 'filters.metadata.value'],
    [{ 'spans.type': { key: ['llm'] } }, 'filters.spans.type'],
  ] as const;

  it('what is invalid is refused by the name of the field', async () => {
    const cases: readonly (readonly [object, object, string])[] = [
      ...FILTERS_REFUSED.map(([filters, field]) => [{ filters }, { filters: rpcFilters(filters) }, field] as const),
      [{ pageSize: 0 }, { pageSize: 0 }, 'pageSize'],
      [{ pageSize: 1001 }, { pageSize: 1001 }, 'pageSize'],
      [{ groupBy: 'user' }, { groupBy: 'user' }, 'groupBy'],
      [{ pageOffset: 1 }, { pageOffset: 1 }, 'pageOffset'],
    ];
    for (const [body, request, field] of cases) {
      const check = (answer: Body) => expect(answer.fields).toEqual([field]);
      await expectEverywhere(app.address, searchCase(body, request, { status: 422, code: 'validation_error', check }));
    }
    const reversed = { startDate: 1_700_000_000_001, endDate: 1_700_000_000_000 };
    const dates = { startDate: { seconds: 2n, nanos: 0 }, endDate: { seconds: 1n, nanos: 0 } };
    await expectEverywhere(app.address, searchCase(reversed, dates, { status: 422, code: 'validation_error' }));
    for (const body of [
      { filters: [] },
      { filters: { 'spans.type': 'llm' } },
      { filters: { 'spans.type': [7] } },
      { filters: { 'metadata.value': { group: 'one' } } },
      { select: ['x'] },
      { sortBy: 'name' },
      { startDate: 'soon' },
      { startDate: '1.' },
      { query: 7 },
      { traceIds: 'x' },
    ]) {
      const answer = await callRest(app.address, { verb: 'POST', path: '/api/traces/search', headers: key(), body });
      expect(answer.status, answer.text).toBe(422);
    }
    expect(
      (await search({ filters: null, pageSize: null, scrollId: null, groupBy: 'none', pageOffset: 0 })).traces,
    ).not.toEqual([]);
  });

  it('a call without a credential, with a wrong one, or without the permission is refused', async () => {
    const narrow = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['project:view'])] });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const refusals = [
      { headers: {}, status: 401, code: 'missing_credentials' },
      { headers: bearer('nope'), status: 401, code: 'invalid_credentials' },
      { headers: bearer(narrow), status: 403, code: 'api_key_permission_denied' },
    ];
    for (const refusal of refusals) {
      await expectEverywhere(app.address, searchCase({}, {}, refusal));
      await expectEverywhere(app.address, threadCase('t', refusal));
    }
  });
});

function threadCase(threadId: string, each: Partial<SurfaceCase> & { status: number; query?: string }): SurfaceCase {
  return {
    name: threadId,
    headers: key(),
    rest: { path: `/api/thread/${encodeURIComponent(threadId)}${each.query ?? ''}` },
    rpc: { method: getThread, request: { threadId } },
    ...each,
  } as SurfaceCase;
}

describe('reading a thread, over REST and gRPC', () => {
  it('T16: has its traces, oldest first, with their spans, for any name', async () => {
    for (const threadId of ['plain', 'th"re%ad_😀', '__proto__', 'x'.repeat(512)]) {
      const late = await sendTrace({ metadata: { thread_id: threadId }, atMs: START + 5 });
      const early = await sendTrace({ metadata: { thread_id: threadId }, atMs: START - 90 * 86_400_000 });
      await sendTrace({ metadata: { thread_id: `${threadId.slice(1)}-` } });
      const check = (body: Body) => {
        expect(body.traces.map((trace: Body) => trace.trace_id)).toEqual([early, late]);
        expect(body.pagination).toEqual({ totalHits: 2 });
        expect(body.traces[0].spans).toHaveLength(1);
        expect(body.traces[0].ascii_tree).toBe('.\n└── llm: llm');
      };
      await expectEverywhere(app.address, threadCase(threadId, { status: 200, check }));
    }
  });

  it('goes on page by page', async () => {
    const sent: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      sent.push(await sendTrace({ metadata: { thread_id: 'paged' }, atMs: START + index }));
    }
    const read: string[] = [];
    let query = '?limit=2';
    for (;;) {
      const { body } = await callRest(app.address, { path: `/api/thread/paged${query}`, headers: key() });
      read.push(...body.traces.map((trace: Body) => trace.trace_id));
      if (body.pagination.scrollId === undefined) break;
      query = `?limit=2&scrollId=${body.pagination.scrollId}`;
    }
    expect(read).toEqual(sent);
    const refused = await callRest(app.address, { path: `/api/thread/other${query}`, headers: key() });
    expect(refused.body).toMatchObject({ code: 'invalid_scroll_id' });
  });

  it('an unknown one has no traces', async () => {
    const check = (body: Body) => expect(body).toEqual({ traces: [], pagination: { totalHits: 0 } });
    await expectEverywhere(app.address, threadCase('nobody', { status: 200, check }));
    await expectEverywhere(app.address, threadCase('x'.repeat(513), { status: 200, check }));
  });

  it.each(['limit=0', 'limit=1001', 'limit=x'])('%s is refused', async (query) => {
    const answer = await callRest(app.address, { path: `/api/thread/t?${query}`, headers: key() });
    expect(answer.body).toMatchObject({ code: 'validation_error', fields: ['limit'] });
  });
});

describe('validating a credential', () => {
  it('returns its project, with any permissions, and refuses an invalid key', async () => {
    const path = '/api/auth/validate';
    const narrow = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:create'])] });
    for (const headers of [key(), { authorization: `Bearer ${narrow}` }]) {
      const answer = await callRest(app.address, { verb: 'POST', path, headers });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        projectId: app.projectId,
        projectSlug: expect.stringMatching(/^default-project-/),
      });
      const rpc = await callRpc(app.address, { method: validateCredential, headers, request: {} });
      expect(rpc).toMatchObject({ ok: true, body: answer.body });
    }
    const refused = await callRest(app.address, { verb: 'POST', path, headers: { 'x-auth-token': 'nope' } });
    expect(refused.status).toBe(401);
  });
});
