import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ThreadService, ThreadSort, ThreadSortDirection } from '../../../gen/spandrel/v1/threads_pb.js';
import { timestampOfMs } from '../../../src/rpc/epoch-ms.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { listThreads, listUsers } = ThreadService.method;
const DAY_MS = 86_400_000;
const FIRST = Date.UTC(2026, 5, 1);
const RANGE = { from: FIRST, to: FIRST + 30 * DAY_MS };

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

type Turn = {
  readonly metadata: object;
  readonly atMs?: number;
  readonly input?: string;
  readonly output?: string;
  readonly cost?: number;
  readonly evaluations?: readonly object[];
} & { readonly [name: string]: unknown };

async function send({ metadata, atMs = FIRST, input, output, cost, evaluations = [], ...span }: Turn): Promise<string> {
  const traceId = hex(32);
  const text = (value: string | undefined) => (value === undefined ? null : { type: 'text', value });
  const body = {
    trace_id: traceId,
    metadata,
    spans: [
      {
        ...{ type: 'llm', span_id: hex(16), timestamps: { started_at: atMs, finished_at: atMs + 100 } },
        ...{ input: text(input), output: text(output) },
        ...(cost === undefined ? {} : { metrics: { prompt_tokens: 10, completion_tokens: 2, cost } }),
        ...span,
      },
    ],
    evaluations,
  };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
  return traceId;
}

type Query = { readonly [name: string]: string | number };

const SORTS: { readonly [name: string]: ThreadSort } = {
  last_activity: ThreadSort.LAST_ACTIVITY,
  traces: ThreadSort.TRACES,
  total_cost: ThreadSort.TOTAL_COST,
  tokens: ThreadSort.TOKENS,
  errors: ThreadSort.ERRORS,
};

type Expected = Partial<SurfaceCase> & { readonly status: number };

function listCase(kind: 'threads' | 'users', query: Query, expected: Expected): SurfaceCase {
  const { from, to, query: words, user_id, customer_id, label, sort_by, sort_direction, limit, cursor } = query;
  const path = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const request = {
    ...(from === undefined ? {} : { startedFrom: timestampOfMs(Number(from)) }),
    ...(to === undefined ? {} : { startedTo: timestampOfMs(Number(to)) }),
    ...(words === undefined ? {} : { query: String(words) }),
    ...(user_id === undefined || kind === 'users' ? {} : { userId: String(user_id) }),
    ...(customer_id === undefined ? {} : { customerId: String(customer_id) }),
    ...(label === undefined ? {} : { label: String(label) }),
    ...(sort_by === undefined ? {} : { sortBy: SORTS[sort_by] ?? ThreadSort.UNSPECIFIED }),
    ...(sort_direction === 'asc' ? { sortDirection: ThreadSortDirection.ASC } : {}),
    ...(limit === undefined ? {} : { pageSize: Number(limit) }),
    ...(cursor === undefined ? {} : { pageToken: String(cursor) }),
  };
  return {
    name: `${kind} ${path.join('&')}`,
    headers: key(),
    rest: { path: `/api/${kind}?${path.join('&')}` },
    rpc: { method: kind === 'threads' ? listThreads : listUsers, request },
    ...expected,
  };
}

async function expectList(kind: 'threads' | 'users', query: Query, check: (body: Body) => void): Promise<void> {
  await expectEverywhere(app.address, listCase(kind, query, { status: 200, check }));
}

/** The threads of one customer, so that a case sees only its own. */
async function expectThreads(query: Query, names: readonly string[]): Promise<void> {
  await expectList('threads', { ...RANGE, ...query }, (body) =>
    expect(body.threads.map((thread: Body) => thread.thread_id)).toEqual(names),
  );
}

describe('threads, over REST and gRPC', () => {
  it('are listed with their first and last turn, totals and scores', async () => {
    const metadata = { thread_id: 'a "talk" 😀', user_id: 'ada', customer_id: 'whole' };
    const scored = (score: number | null, passed: boolean) => ({ name: 'tone', score, passed, evaluation_id: hex(8) });
    const first = await send({ metadata, input: 'Where is my order?', output: 'On its way.', cost: 0.25 });
    await send({ metadata, atMs: FIRST + 1, error: 'failed', evaluations: [scored(0.25, false), scored(null, true)] });
    const last = await send({
      ...{ metadata: { ...metadata, user_id: 'bob' }, atMs: FIRST + DAY_MS, input: 'x'.repeat(300), cost: 0.5 },
      evaluations: [scored(1, true), { name: 'broken', status: 'error', error: 'no model' }],
    });
    await send({ metadata: { customer_id: 'whole' } });
    await expectList('threads', { ...RANGE, customer_id: 'whole' }, (body) =>
      expect(body).toEqual({
        threads: [
          {
            thread_id: 'a "talk" 😀',
            user_id: 'bob',
            first: { trace_id: first, started_at: FIRST, input: 'Where is my order?', output: 'On its way.' },
            last: { trace_id: last, started_at: FIRST + DAY_MS, input: 'x'.repeat(200), output: '' },
            totals: {
              ...{ traces: 3, spans: 3, errors: 1, prompt_tokens: 20, completion_tokens: 4, total_cost: 0.75 },
            },
            scores: { score: 0.625, scored: 2, passed: 2, failed: 1 },
          },
        ],
        next_cursor: null,
      }),
    );
    const nothing = { prompt_tokens: null, completion_tokens: null, total_cost: null };
    await expectList('users', { ...RANGE, customer_id: 'whole', sort_by: 'traces' }, ({ users }) =>
      expect(users).toMatchObject([
        { user_id: 'ada', first: { trace_id: first }, totals: { traces: 2, total_cost: 0.25 }, scores: { scored: 1 } },
        { user_id: 'bob', first: { trace_id: last }, last: { trace_id: last }, totals: { traces: 1 } },
      ]),
    );
    await expectList('users', { ...RANGE, to: FIRST + 1, from: FIRST + 1, customer_id: 'whole' }, ({ users }) =>
      expect(users).toMatchObject([{ user_id: 'ada', totals: { traces: 1, errors: 1, ...nothing } }]),
    );
  });

  it('come in the order of the request, page by page, each once', async () => {
    const talk = async (name: string, turns: readonly Partial<Turn>[]) => {
      for (const turn of turns) await send({ ...turn, metadata: { thread_id: name, customer_id: 'order' } });
    };
    await talk('old', [{ atMs: FIRST, cost: 3 }]);
    await talk('new', [{ atMs: FIRST + 9_000 }]);
    await talk('long', [{ atMs: FIRST + 10 }, { atMs: FIRST + 20, cost: 1 }, { atMs: FIRST + 30, error: 'failed' }]);
    await talk('failed', [{ atMs: FIRST + 500, error: 'failed', cost: 0.5 }]);
    const customer_id = 'order';
    await expectThreads({ customer_id }, ['new', 'failed', 'long', 'old']);
    await expectThreads({ customer_id, sort_by: 'last_activity', sort_direction: 'asc' }, [
      'old',
      'long',
      'failed',
      'new',
    ]);
    await expectThreads({ customer_id, sort_by: 'traces' }, ['long', 'new', 'failed', 'old']);
    await expectThreads({ customer_id, sort_by: 'total_cost' }, ['old', 'long', 'failed', 'new']);
    await expectThreads({ customer_id, sort_by: 'errors' }, ['failed', 'long', 'new', 'old']);
    await expectThreads({ customer_id, sort_by: 'tokens', sort_direction: 'asc' }, ['new', 'old', 'long', 'failed']);
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages += 1) {
      expect(pages).toBeLessThan(4);
      const query = { ...RANGE, customer_id, sort_by: 'traces', limit: 1, ...(cursor === '' ? {} : { cursor }) };
      let next: string | null = null;
      await expectList('threads', query, (body) => {
        next = body.next_cursor;
        expect(body.threads).toHaveLength(1);
        if (seen.at(-1) !== body.threads[0].thread_id) seen.push(body.threads[0].thread_id);
      });
      cursor = next;
    }
    expect(seen).toEqual(['long', 'new', 'failed', 'old']);
  });

  it('are found by words of a turn, by the id and by its beginning, and by user, customer and label', async () => {
    const named = { customer_id: 'find', user_id: 'grace', labels: ['gold', 'beta'] };
    await send({ metadata: { ...named, thread_id: 'Order-17' }, input: 'The parcel is a Wombat' });
    await send({ metadata: { ...named, thread_id: 'Order-17' }, atMs: FIRST + 5, input: 'thanks' });
    await send({
      metadata: { customer_id: 'find', thread_id: 'order-18' },
      atMs: FIRST + 9,
      output: 'no wombats here',
    });
    await send({ metadata: { customer_id: 'else', thread_id: 'far away' }, input: 'wombat' });
    const customer_id = 'find';
    await expectThreads({ customer_id, query: 'wombat' }, ['order-18', 'Order-17']);
    await expectThreads({ customer_id, query: 'THE PARCEL' }, ['Order-17']);
    await expectThreads({ customer_id, query: 'order-1' }, ['order-18', 'Order-17']);
    await expectThreads({ customer_id, query: 'order-17' }, ['Order-17']);
    await expectThreads({ customer_id, query: 'rder-1' }, []);
    await expectThreads({ user_id: 'grace', label: 'gold' }, ['Order-17']);
    await expectThreads({ user_id: 'grace', label: 'silver' }, []);
    await expectThreads({ user_id: 'x'.repeat(600) }, []);
    await expectList('users', { ...RANGE, customer_id, query: 'gra' }, ({ users }) =>
      expect(users).toMatchObject([{ user_id: 'grace', totals: { traces: 2 } }]),
    );
  });

  it('are of the last thirty days unless the request has a range', async () => {
    const metadata = { thread_id: 'lately', customer_id: 'default' };
    await send({ metadata, atMs: Date.now() - 29 * DAY_MS });
    await send({ metadata: { ...metadata, thread_id: 'before' }, atMs: Date.now() - 31 * DAY_MS });
    const check = ({ threads }: Body) => expect(threads).toMatchObject([{ thread_id: 'lately' }]);
    await expectEverywhere(app.address, listCase('threads', { customer_id: 'default' }, { status: 200, check }));
  });

  it('refuse what is not a list of theirs', async () => {
    const bad: readonly Query[] = [{ from: 2, to: 1 }, { limit: 0 }, { limit: 201 }, { query: 'x'.repeat(1_001) }];
    for (const query of bad) {
      for (const kind of ['threads', 'users'] as const) {
        await expectEverywhere(app.address, listCase(kind, query, { status: 422, code: 'validation_error' }));
      }
    }
    const byName = listCase('threads', { ...RANGE, sort_by: 'name' }, { status: 422 });
    expect((await callRest(app.address, { ...byName.rest, headers: byName.headers })).status).toBe(422);
    const page = await callRest(app.address, {
      path: `/api/threads?from=${FIRST}&customer_id=order&limit=1`,
      headers: key(),
    });
    const cursor = page.body.next_cursor;
    expect(cursor).toEqual(expect.any(String));
    for (const query of [
      { cursor: 'made up' },
      { customer_id: 'order', cursor, sort_by: 'traces' },
      { customer_id: 'other', cursor },
      { customer_id: 'order', cursor, from: FIRST + 1 },
    ]) {
      await expectEverywhere(app.address, listCase('threads', query, { status: 422, code: 'invalid_cursor' }));
    }
    await expectEverywhere(
      app.address,
      listCase('users', { customer_id: 'order', cursor }, { status: 422, code: 'invalid_cursor' }),
    );
  });
});
