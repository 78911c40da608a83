import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import type { Body } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { createClient } from './monitors-client.ts';

let app: TestApp;
const client = createClient(() => app);
const { make, rest } = client;

beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_MONITOR_SETTLE_MS: '20', SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: '60' },
  });
});
afterAll(async () => {
  await app.close();
});

type Sent = { readonly output?: string; readonly metadata?: object; readonly more?: readonly object[] };

let count = 0;
const newTraceId = () => {
  count += 1;
  return `trace-of-a-monitor-${count}`;
};

function span(id: string, changes: object = {}): object {
  const nowMs = Date.now();
  return { span_id: id, type: 'llm', timestamps: { started_at: nowMs - 20, finished_at: nowMs }, ...changes };
}

async function send(traceId: string, { output = 'Hello, World!', metadata, more = [] }: Sent = {}): Promise<void> {
  const spans = [span('root', { input: 'Say hello', output }), ...more];
  const { status, text } = await rest('POST', '/api/collector', { trace_id: traceId, metadata, spans });
  if (status !== 200) throw new Error(text);
}

const read = async (traceId: string): Promise<Body[]> => (await rest('GET', `/api/traces/${traceId}`)).body.evaluations;

/** Waits for a condition on a trace's results; returns them. */
async function waitFor(traceId: string, isThere: (found: Body[]) => boolean): Promise<Body[]> {
  let found: Body[] = [];
  await until(async () => {
    found = await read(traceId);
    return isThere(found);
  });
  return found;
}

/** Waits until no job is left. */
const waitForNothing = () => until(async () => (await app.store.evaluationJobs.counts(10)).depth === 0);

describe('a monitor', () => {
  it('puts one result on a trace, replaced when what it read has changed and not otherwise', async () => {
    const evaluator = await client.evaluator();
    const monitor = await make({
      name: 'Greets',
      evaluatorId: evaluator.id,
      mappings: { expected_output: 'metadata.expected' },
    });
    const traceId = newTraceId();
    await send(traceId, { metadata: { expected: 'hello world' } });
    const [first] = await waitFor(traceId, (found) => found.length === 1);
    expect(first).toMatchObject({
      evaluator_id: evaluator.id,
      monitor_id: monitor.id,
      name: 'Judge',
      type: 'langevals/exact_match',
      status: 'processed',
      passed: true,
      is_guardrail: false,
      inputs: { output: 'Hello, World!', expected_output: 'hello world' },
    });
    expect(first.evaluation_id).toMatch(/^eval_mon_[0-9a-f]{32}$/);
    await send(traceId, { metadata: { other: 1 } });
    await waitForNothing();
    expect(await read(traceId)).toEqual([first]);
    await send(traceId, { output: 'Bye' });
    const [second] = await waitFor(traceId, ([result]) => result.passed === false);
    expect(second).toMatchObject({ evaluation_id: first.evaluation_id, inputs: { output: 'Bye' } });
    expect(second.timestamps.inserted_at).toBe(first.timestamps.inserted_at);
    await rest('DELETE', `/api/monitors/${monitor.id}`);
    await send(traceId, { output: 'Hello world' });
    await waitForNothing();
    expect(await read(traceId)).toEqual([second]);
  });

  it('evaluates only traces that meet all preconditions', async () => {
    const { id: evaluatorId } = await client.evaluator();
    const preconditions = [
      { field: 'span.type', value: 'rag' },
      { field: 'label', value: 'live' },
      { field: 'metadata.tries', value: 3 },
      { field: 'metadata.user_id', value: 'u' },
      { field: 'metadata.account', value: JSON.rawJSON('9007199254740993') },
    ];
    const { id } = await make({ name: 'Picky', evaluatorId, preconditions });
    const account = JSON.rawJSON('9007199254740993');
    const metadata = { labels: ['x', 'live'], tries: JSON.rawJSON('3.0'), user_id: 'u', account };
    const more = [span('search', { type: 'rag', parent_id: 'root' })];
    const refused: readonly Sent[] = [
      { metadata },
      { metadata: { ...metadata, tries: '3' }, more },
      { metadata: { ...metadata, labels: ['x'] }, more },
      { metadata: { ...metadata, user_id: 'v' }, more },
      { metadata: { ...metadata, account: JSON.rawJSON('9007199254740992') }, more },
    ];
    const traceIds = refused.map(newTraceId);
    for (const [index, traceId] of traceIds.entries()) await send(traceId, refused[index]);
    const traceId = newTraceId();
    await send(traceId, { metadata, more });
    await waitFor(traceId, (found) => found.length === 1);
    await waitForNothing();
    for (const each of traceIds) expect(await read(each)).toEqual([]);
    await rest('DELETE', `/api/monitors/${id}`);
  });

  it('reads contexts of all retrievals, and inputs of the span of a type that started last', async () => {
    const f1 = await client.evaluator({ evaluatorType: 'ragas/context_f1' });
    const mappings = { expected_contexts: 'metadata.wanted', contexts: { source: 'contexts' } };
    const contexts = await make({ name: 'Contexts', evaluatorId: f1.id, mappings });
    const { id: evaluatorId } = await client.evaluator({ evaluatorType: 'ragas/bleu_score' });
    const sides = { output: 'span.tool.output', expected_output: 'span.tool.input' };
    const tools = await make({ name: 'Tools', evaluatorId, mappings: sides });
    const early = { started_at: Date.now() - 5_000, finished_at: Date.now() };
    const more = [
      span('r2', { type: 'rag', contexts: ['two', { document_id: 'd', content: 'three' }] }),
      span('r1', { type: 'rag', contexts: ['one'], timestamps: early }),
      span('t1', { type: 'tool', input: 'old', output: 'old', timestamps: early }),
      span('t2', { type: 'tool', input: { query: 'new' }, output: 'newer' }),
    ];
    const traceId = newTraceId();
    await send(traceId, { metadata: { wanted: ['one', 'two', 'three'] }, more });
    const found = await waitFor(traceId, ({ length }) => length === 2);
    const of = (id: string) => found.find((each) => each.monitor_id === id);
    expect(of(contexts.id)).toMatchObject({
      score: 1,
      inputs: { contexts: ['one', 'two', 'three'], expected_contexts: ['one', 'two', 'three'] },
    });
    expect(of(tools.id)).toMatchObject({ inputs: { output: 'newer', expected_output: 'new' } });
    const bare = newTraceId();
    await send(bare);
    const skipped = await waitFor(bare, ({ length }) => length === 2);
    expect(skipped.map(({ status, details }) => [status, details]).toSorted()).toEqual([
      ['skipped', 'contexts is required for Context F1 evaluator'],
      ['skipped', 'output is required for BLEU Score evaluator'],
    ]);
    // Some of them alone would be judged wrongly.
    const full = newTraceId();
    const retrievals = Array.from({ length: 1_001 }, (_, index) =>
      span(`r${index}`, { type: 'rag', contexts: ['one'] }),
    );
    await send(full, { metadata: { wanted: ['one'] }, more: retrievals });
    const onFull = await waitFor(full, ({ length }) => length === 2);
    expect(onFull.find((each) => each.monitor_id === contexts.id)).toMatchObject({
      status: 'skipped',
      details: expect.stringMatching(/too many items$/),
    });
    for (const { id } of [contexts, tools]) await rest('DELETE', `/api/monitors/${id}`);
  });

  it('evaluates no trace once it is off, and reports its backlog', async () => {
    const { id: evaluatorId } = await client.evaluator();
    const { id } = await make({ name: 'Off', evaluatorId });
    await rest('POST', `/api/monitors/${id}/toggle`, { enabled: false });
    const traceId = newTraceId();
    await send(traceId);
    await waitForNothing();
    expect(await read(traceId)).toEqual([]);
    const page = await (await fetchChecked(app.address, '/metrics')).text();
    expect(page).toMatch(/^spandrel_evaluation_queue_depth 0$/m);
    expect(page).toMatch(/^spandrel_evaluation_oldest_due_seconds 0$/m);
    expect(page).toMatch(/^spandrel_evaluations_total\{type="langevals\/exact_match",status="processed"\} [1-9]/m);
    await rest('DELETE', `/api/monitors/${id}`);
  });
});
