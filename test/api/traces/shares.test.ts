import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CORRECTIONS_MAX } from '../../../src/domain/events/request-event.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { runsOf } from '../../support/scenario.ts';
import { type ModelSpan, readTrace, sumOf } from '../../support/share-model/shares.ts';
import { TREE } from '../../support/share-model/trees.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const NOW = Date.now() - 60_000;
const NANO = 1e9;
const RUNS = 1_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_MONITOR_SETTLE_MS: '20', SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: '20' },
  });
});
afterAll(async () => {
  await app.close();
});

const project = () => ({ 'x-auth-token': app.projectKey });
const read = async (path: string, headers: Record<string, string> = project()): Promise<Body> =>
  (await callRest(app.address, { path, headers })).body;

async function send(traceId: string, spans: readonly Body[]): Promise<void> {
  const body = { trace_id: traceId, spans };
  const { status } = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: project(), body });
  expect(status).toBe(200);
}

type Sent = { readonly tokens?: readonly [number, number]; readonly cost?: number; readonly model?: string };

function span(id: string, parent: string | null, type: string, { tokens, cost, model }: Sent = {}): Body {
  const [prompt_tokens, completion_tokens] = tokens ?? [null, null];
  const metrics = { prompt_tokens, completion_tokens, cost };
  return {
    span_id: id,
    parent_id: parent,
    type,
    model,
    metrics,
    timestamps: { started_at: NOW, finished_at: NOW + 1 },
  };
}

const settled = () => until(async () => (await app.store.evaluationJobs.counts(10)).depth === 0);

/** The newest event of each request, in the order of their newest events. */
/** In nano-USD. */
async function spend(): Promise<number> {
  const path = `/api/gateway/v1/spend?from=${NOW - 60_000}&to=${NOW + 60_000}`;
  const { total } = await read(path, { authorization: `Bearer ${app.adminKey}` });
  return total.cost.nano_usd;
}

/** The number of a correction of a request; 1 for its first event. */
function orderOf({ event_id }: Body): number {
  return Number(/:completed:(\d+)$/.exec(String(event_id))?.[1] ?? 1);
}

async function allRequests(): Promise<Body[]> {
  const newest = new Map<string, Body>();
  const range = `from=${NOW}&to=9007199254740991&limit=200`;
  let cursor = '';
  do {
    const path = `/api/webhooks/v1/events?${range}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = await read(path, { authorization: `Bearer ${app.adminKey}` });
    for (const { data } of page.data) {
      const known = newest.get(data.gateway_request_id);
      // All at one instant, the tenth correction comes before the second: ids are ordered by bytes.
      if (known === undefined || orderOf(data) > orderOf(known)) newest.set(data.gateway_request_id, data);
    }
    cursor = page.next_cursor ?? '';
  } while (cursor !== '');
  return [...newest.values()].reverse();
}

async function requestsOf(traceId: string): Promise<Body[]> {
  return (await allRequests()).filter(({ trace_id }) => trace_id === traceId);
}

const GPT = { model: 'gpt-4o' };
const agent = (tokens: readonly [number, number], cost?: number) =>
  span('agent', null, 'agent', { ...GPT, tokens, ...(cost === undefined ? {} : { cost }) });
const call = (id: string, parent: string | null, tokens: readonly [number, number], more: Sent = {}) =>
  span(id, parent, 'llm', { ...GPT, tokens, ...more });

describe('usage that several spans report', () => {
  it.each<[string, readonly Body[], readonly [number, number, number], number]>([
    [
      'an agent over its calls',
      [agent([300, 30]), call('a', 'agent', [100, 10]), call('b', 'agent', [200, 20])],
      [300, 30, 0.00105],
      2,
    ],
    ['an agent without calls', [agent([300, 30])], [300, 30, 0.00105], 0],
    [
      'steps over one call',
      [
        span('s1', null, 'agent', { tokens: [100, 10] }),
        span('s2', 's1', 'chain', { tokens: [100, 10] }),
        call('a', 's2', [100, 10]),
      ],
      [100, 10, 0.00035],
      1,
    ],
    [
      'two libraries around one call',
      [call('a', null, [100, 10]), call('b', 'a', [100, 10], { model: 'gpt-4o-2024-11-20' })],
      [100, 10, 0.00035],
      1,
    ],
    [
      'a call inside a tool of another',
      [call('a', null, [100, 10]), span('t', 'a', 'tool'), call('b', 't', [50, 5])],
      [150, 15, 0.000525],
      2,
    ],
    [
      'a wrapper over two calls',
      [call('w', null, [300, 30]), call('a', 'w', [100, 10]), call('b', 'w', [200, 20])],
      [300, 30, 0.00105],
      2,
    ],
    [
      'an agent that knows the cost',
      [agent([0, 0], 0.5), call('a', 'agent', [1, 0], { cost: 0.2 }), call('b', 'agent', [1, 0], { cost: 0.1 })],
      [2, 0, 0.5],
      2,
    ],
  ])('counts once: %s', async (_, spans, [prompt, completion, cost], requests) => {
    for (const order of [spans, spans.toReversed()]) {
      const traceId = hex(32);
      for (const each of order) await send(traceId, [each]);
      const { metrics } = await read(`/api/traces/${traceId}`);
      expect(metrics).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion, total_cost: cost });
      await settled();
      const counted = (await requestsOf(traceId)).filter(({ metadata }) => metadata.duplicate_of === undefined);
      expect(counted).toHaveLength(requests);
    }
  });

  it('of a pair that ends makes the requests that are missing, and counts the duplicate again', async () => {
    const traceId = hex(32);
    await send(traceId, [call('inner', 'step', [100, 10])]);
    await send(traceId, [call('outer', null, [100, 10])]);
    await send(traceId, [span('step', 'outer', 'chain')]);
    await settled();
    const [inner, outer] = await requestsOf(traceId);
    expect(outer).toMatchObject({
      cost: { nano_usd: 0 },
      usage: { input_tokens: 0 },
      metadata: { duplicate_of: inner.gateway_request_id },
    });
    await send(traceId, [call('outer', null, [100, 10])]);
    expect((await requestsOf(traceId)).map(({ event_id }) => event_id)).toEqual([inner.event_id, outer.event_id]);
    await send(traceId, [call('inner', 'step', [70, 10])]);
    await settled();
    expect((await requestsOf(traceId)).map(({ usage, metadata }) => [usage.input_tokens, metadata])).toEqual([
      [70, {}],
      [100, {}],
    ]);
  });
});

describe('random traces', () => {
  it('equal an independent reading in totals, analytics, spend and events, in any order and repetition', async () => {
    await settled();
    const spentBefore = await spend();
    const trees: { readonly traceId: string; readonly spans: readonly ModelSpan[] }[] = [];
    await fc.assert(
      fc.asyncProperty(
        TREE.chain((spans) =>
          fc.tuple(
            fc.constant(spans),
            fc.shuffledSubarray([...spans, ...spans], { minLength: spans.length * 2 }),
            fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 28, maxLength: 28 }),
          ),
        ),
        async ([spans, order, sizes]) => {
          const traceId = hex(32);
          const waiting = order.map(toBody);
          while (waiting.length > 0) await send(traceId, waiting.splice(0, sizes.pop() ?? 1));
          trees.push({ traceId, spans });
          const shares = [...readTrace(spans).shares.values()];
          const cost = sumOf(shares.map((share) => share.cost));
          const { metrics } = await read(`/api/traces/${traceId}`);
          expect(metrics).toMatchObject({
            prompt_tokens: sumOf(shares.map((share) => share.input)),
            completion_tokens: sumOf(shares.map((share) => share.output)),
            total_cost: cost === null ? null : cost / NANO,
          });
        },
      ),
      { numRuns: runsOf(RUNS) },
    );
    await settled();
    const requests = Map.groupBy(await allRequests(), ({ trace_id }) => trace_id);
    let spentOnTrees = 0;
    for (const { traceId, spans } of trees) {
      const { shares } = readTrace(spans);
      const calls = spans.filter(({ row }) => row !== null).map(({ id }) => shares.get(id)?.cost ?? 0);
      const told = requests.get(traceId) ?? [];
      const spent = told.map(({ cost }) => cost?.nano_usd ?? 0);
      const wanted = calls.reduce((sum, nano) => sum + nano, 0);
      // After its last correction a request changes its spend, and tells nobody.
      const isCapped = told.some((each) => orderOf(each) > CORRECTIONS_MAX);
      if (!isCapped) expect(spent.reduce((sum: number, nano: number) => sum + nano, 0)).toBe(wanted);
      spentOnTrees += wanted;
    }
    expect((await spend()) - spentBefore).toBe(spentOnTrees);
    const mini = trees.flatMap(({ spans }) => {
      const { shares } = readTrace(spans);
      return spans.filter(({ row }) => row === 'gpt-4o-mini').map(({ id }) => shares.get(id)?.input ?? null);
    });
    const range = `from=${NOW - 60_000}&to=${NOW + 60_000}&interval=total&group_by=model&model=gpt-4o-mini`;
    const [bucket] = (await read(`/api/analytics?${range}`)).buckets;
    expect(bucket?.prompt_tokens ?? null).toBe(sumOf(mini));
  });
});

function toBody({ id, parent, type, row, start, input, output, cost }: ModelSpan): Body {
  const explicit = cost?.source === 'explicit' ? { cost: cost.nano / NANO } : {};
  const result = { type: 'guardrail_result', value: { cost: { currency: 'USD', amount: (cost?.nano ?? 0) / NANO } } };
  return {
    ...{ span_id: id, parent_id: parent, type, model: row ?? 'gpt-4o' },
    timestamps: { started_at: NOW + start, finished_at: NOW + 10 },
    metrics: { prompt_tokens: input, completion_tokens: output, ...explicit },
    ...(cost?.source === 'result' ? { output: result } : {}),
  };
}
