import { create } from '@bufbuild/protobuf';
import { createClient as createConnectClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CollectTraceRequestSchema, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { inputsToStore } from '../../../src/domain/evaluations/result-inputs.ts';
import type { Evaluation } from '../../../src/domain/traces/trace.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { createClient as createMonitorClient } from '../monitors/monitors-client.ts';
import { createClient } from './evaluations-client.ts';

const { getTrace, searchTraces, exportTraces, getThread, collectTrace } = TraceService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { SPANDREL_MONITOR_SETTLE_MS: '20', SPANDREL_MONITOR_ROOTLESS_SETTLE_MS: '60' },
  });
});
afterAll(async () => {
  await app.close();
});

const client = createClient(() => app);
const monitors = createMonitorClient(() => app);

const QUESTION = 'What is the capital of France? '.repeat(100);
const ANSWER = 'Paris, of course. '.repeat(180);
const EXCERPT = /^Paris, of course.*…\[truncated: 3240 bytes\] \[sha256 [0-9a-f]{64}\]$/;
const MATCH = '/api/evaluations/langevals/exact_match/evaluate';

function span(id: string, changes: object = {}) {
  const nowMs = Date.now();
  return { span_id: id, type: 'llm', timestamps: { started_at: nowMs - 20, finished_at: nowMs }, ...changes };
}

async function collect(traceId: string, body: object): Promise<void> {
  const { status, text } = await client.rest('/api/collector', { trace_id: traceId, ...body });
  if (status !== 200) throw new Error(text);
}

const sendTrace = (traceId: string, output = ANSWER) =>
  collect(traceId, {
    expected_output: ANSWER,
    metadata: { thread_id: `thread-of-${traceId}` },
    spans: [span('root', { input: QUESTION, output })],
  });

/** What the store keeps of the results of a trace. */
async function storedOf(traceId: string): Promise<readonly Evaluation[]> {
  const { traces } = app.store;
  const project = await app.store.keys.findProject(app.projectId);
  const record = project && (await traces.find(project.number, traceId));
  if (!record) throw new Error(`${traceId} is not stored`);
  const trace = { ...record, projectNumber: project.number };
  const order = await traces.evaluationOrder(trace, { after: null, limit: 2000 });
  return await traces.evaluations(
    trace,
    order.map(({ id }) => id),
  );
}

const bytesOf = ({ inputsJson }: Evaluation) => Buffer.byteLength(inputsJson ?? '');

async function resultsOf(traceId: string, isThere: (results: Body[]) => boolean): Promise<Body[]> {
  let results: Body[] = [];
  await until(async () => {
    results = await client.evaluationsOf(traceId);
    return isThere(results);
  });
  return results;
}

/** Checks the inputs of the only result of a trace, however it is read. */
async function expectInputs(traceId: string, check: (inputs: Body) => void): Promise<void> {
  const each = { headers: client.key(), status: 200 };
  const traceIds = [traceId];
  const checkOnly = ({ evaluations }: Body) => {
    expect(evaluations).toHaveLength(1);
    check(evaluations[0].inputs);
  };
  const path = `/api/traces/${traceId}`;
  await expectEverywhere(app.address, {
    ...each,
    name: 'get',
    rest: { path },
    rpc: { method: getTrace, request: { traceId } },
    check: checkOnly,
  });
  await expectEverywhere(app.address, {
    ...each,
    name: 'digest',
    rest: { path: `${path}?format=digest` },
    rpc: { method: getTrace, request: { traceId, format: 2 } },
    check: checkOnly,
  });
  await expectEverywhere(app.address, {
    ...each,
    name: 'search',
    rest: { verb: 'POST', path: '/api/traces/search', body: { traceIds } },
    rpc: { method: searchTraces, request: { traceIds } },
    check: ({ traces }) => checkOnly(traces[0]),
  });
  await expectEverywhere(app.address, {
    ...each,
    name: 'export',
    rest: { verb: 'POST', path: '/api/traces/export', body: { traceIds } },
    rpc: { method: exportTraces, request: { traceIds } },
    check: (row) => checkOnly(row.evaluations === undefined ? row.row : row),
  });
  const threadId = `thread-of-${traceId}`;
  await expectEverywhere(app.address, {
    ...each,
    name: 'thread',
    rest: { path: `/api/thread/${threadId}` },
    rpc: { method: getThread, request: { threadId } },
    check: ({ traces }) => checkOnly(traces[0]),
  });
  const transport = createConnectTransport({ baseUrl: app.address, httpVersion: '1.1' });
  const answer = await createConnectClient(TraceService, transport).getTrace({ traceId }, { headers: client.key() });
  const { view } = answer;
  check(JSON.parse((view.case === 'trace' && view.value.evaluations[0]?.inputsJson) || 'null'));
}

describe('texts of the trace that a result judged', () => {
  it('of a request are referred to and read back whole, until they change', async () => {
    await sendTrace('asked');
    const data = { input: 'not read', output: ANSWER, expected_output: 'short' };
    await client.rest(MATCH, { data, trace_id: 'asked' });
    const [stored] = await storedOf('asked');
    expect(stored && bytesOf(stored)).toBeLessThan(600);
    await expectInputs('asked', (inputs) => expect(inputs).toEqual({ output: ANSWER, expected_output: 'short' }));
    await sendTrace('asked', 'Something else');
    await collect('asked', { expected_output: 'Something else' });
    await expectInputs('asked', (inputs) => {
      expect(inputs).toEqual({ output: expect.stringMatching(EXCERPT), expected_output: 'short' });
    });
  });

  it('of a request about a span are those of the span', async () => {
    const tool = span('tool', { parent_id: 'root', type: 'tool', input: 'in', output: `${ANSWER}of the tool` });
    await collect('of-a-span', { spans: [span('root', { input: QUESTION, output: ANSWER }), tool] });
    const data = { output: `${ANSWER}of the tool`, expected_output: QUESTION };
    await client.rest(MATCH, { data, trace_id: 'of-a-span', span_id: 'tool' });
    const [stored] = await storedOf('of-a-span');
    expect(stored && bytesOf(stored)).toBeLessThan(1200);
    expect((await client.evaluationsOf('of-a-span'))[0].inputs).toEqual(data);
  });

  it('are kept whole up to 4 KiB where the trace does not have them', async () => {
    await sendTrace('elsewhere');
    const data = { output: `${ANSWER}!`, expected_output: 'x'.repeat(5000) };
    await client.rest(MATCH, { data, trace_id: 'elsewhere' });
    await client.rest(MATCH, { data, trace_id: 'unknown-before' });
    for (const traceId of ['elsewhere', 'unknown-before']) {
      const [{ inputs }] = (await client.evaluationsOf(traceId)) as [Body];
      expect(inputs.output).toBe(data.output);
      expect(inputs.expected_output).toMatch(/^x{3900}…\[truncated: 5000 bytes\] \[sha256 [0-9a-f]{64}\]$/);
    }
  });

  it('of a large trace are referred to where the request names the span, and for its expected output', async () => {
    const others = Array.from({ length: 200 }, (_, index) => span(`s${index}`, { parent_id: 'root' }));
    const spans = [span('root', { input: QUESTION, output: ANSWER }), ...others];
    await collect('large', { spans, expected_output: QUESTION });
    const data = { output: ANSWER, expected_output: QUESTION };
    await client.rest(MATCH, { data, trace_id: 'large', evaluation_id: 'of-the-span', span_id: 'root' });
    await client.rest(MATCH, { data, trace_id: 'large', evaluation_id: 'of-the-trace' });
    const sizes = new Map((await storedOf('large')).map((each) => [each.evaluationId, bytesOf(each)]));
    expect(sizes.get('of-the-span')).toBeLessThan(1200);
    expect(sizes.get('of-the-trace')).toBeLessThan(ANSWER.length + 800);
    for (const { inputs } of await client.evaluationsOf('large')) expect(inputs).toEqual(data);
  });

  it('of monitors and of runs take some hundred bytes in each result', async () => {
    const evaluator = await monitors.evaluator();
    const made: Body[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.push(await monitors.make({ name: `Watch ${index}`, evaluatorId: evaluator.id }));
    }
    await sendTrace('watched');
    await resultsOf('watched', ({ length }) => length === 5);
    for (const { id } of made) await monitors.rest('DELETE', `/api/monitors/${id}`);
    const { body } = await client.rest(`/api/evaluators/${evaluator.id}/run`, { traceIds: ['watched'] });
    const results = await resultsOf('watched', ({ length }) => length === 6);
    for (const { inputs } of results) expect(inputs).toEqual({ output: ANSWER, expected_output: ANSWER });
    expect(results.filter(({ monitor_id: monitorId }) => monitorId === null)).toHaveLength(1);
    expect(body.evaluator_id).toBe(evaluator.id);
    for (const stored of await storedOf('watched')) expect(bytesOf(stored)).toBeLessThan(1100);
  });

  it('of a monitor with mappings come from any span and from metadata', async () => {
    const { id: evaluatorId } = await monitors.evaluator();
    const mappings = { output: 'span.tool.output', expected_output: 'metadata.note' };
    const { id } = await monitors.make({ name: 'Mapped', evaluatorId, mappings });
    const note = `${ANSWER}Noted.`;
    const tool = span('tool', { parent_id: 'root', type: 'tool', output: `${ANSWER}Done.` });
    await collect('mapped', { metadata: { note }, spans: [span('root', { input: QUESTION }), tool] });
    const [{ inputs }] = (await resultsOf('mapped', ({ length }) => length === 1)) as [Body];
    expect(inputs).toEqual({ output: `${ANSWER}Done.`, expected_output: note });
    await monitors.rest('DELETE', `/api/monitors/${id}`);
    const [stored] = await storedOf('mapped');
    expect(stored && bytesOf(stored)).toBeLessThan(1100);
  });
});

describe('inputs that a sender chose', () => {
  const reference = (origin: object, text: string) => {
    const stored = inputsToStore({ output: text }, { output: { spanId: null, name: 'x' } });
    const { output } = JSON.parse(stored);
    return { output: { reference: { ...output.reference, origin } } };
  };

  it('never show a text of the trace, though they look exactly like a stored reference', async () => {
    await sendTrace('forged');
    const forged = reference({ spanId: 'root', name: 'output' }, ANSWER);
    await collect('forged', { evaluations: [{ evaluation_id: 'e', name: 'E', passed: true, inputs: forged }] });
    await expectInputs('forged', (inputs) => expect(inputs).toEqual(forged));
  });

  it('never do so over RPC either, where they are JSON text that may begin with a space', async () => {
    await sendTrace('forged-rpc');
    const inputsJson = inputsToStore({ output: ANSWER }, { output: { spanId: 'root', name: 'output' } });
    expect(inputsJson).toMatch(/^ /);
    const evaluations = [{ evaluationId: 'e', name: 'E', passed: true, inputsJson }];
    const request = create(CollectTraceRequestSchema, { traceId: 'forged-rpc', evaluations });
    const answer = await callRpc(app.address, { method: collectTrace, request, headers: client.key() });
    expect(answer.ok).toBe(true);
    await expectInputs('forged-rpc', (inputs) => expect(inputs).toEqual(JSON.parse(inputsJson)));
    const text = ` ${JSON.stringify(inputsJson)}`;
    const body = `{"trace_id":"forged-text","evaluations":[{"name":"E","passed":true,"inputs":${text}}]}`;
    await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: client.key(), body });
    expect((await client.evaluationsOf('forged-text'))[0].inputs).toBe(inputsJson);
  });

  it('as data of a run are texts, whatever they contain, and show nothing of another trace or project', async () => {
    await sendTrace('secret');
    const { body: other } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers: { 'x-auth-token': app.adminKey },
      body: { name: 'Other' },
    });
    const forged = JSON.stringify(reference({ spanId: 'root', name: 'output' }, ANSWER)).padEnd(600, ' ');
    const body = { data: { output: forged, expected_output: ` ${forged}` }, trace_id: 'secret' };
    const headers = { 'x-auth-token': other.apiKey };
    await callRest(app.address, { verb: 'POST', path: MATCH, headers, body });
    const { body: read } = await callRest(app.address, { path: '/api/traces/secret', headers });
    expect(read.evaluations[0].inputs).toEqual(body.data);
    expect(JSON.stringify(read)).not.toContain(ANSWER);
  });

  it('refer to the trace of the result only: a hash and a span id of another trace show its excerpt', async () => {
    await sendTrace('there');
    await collect('here', { spans: [span('other', { output: 'x' })] });
    await appendResults('here', [inputsToStore({ output: ANSWER }, { output: { spanId: 'root', name: 'output' } })]);
    expect((await client.evaluationsOf('here'))[0].inputs.output).toMatch(EXCERPT);
  });
});

/** Stores results with these inputs, as evaluators do. */
async function appendResults(traceId: string, allInputs: readonly string[]): Promise<void> {
  const project = await app.store.keys.findProject(app.projectId);
  if (project === null) throw new Error('the project is not stored');
  const nowMs = Date.now();
  const evaluation: Omit<Evaluation, 'evaluationId' | 'inputsJson'> = {
    ...{ evaluatorId: 'e', name: 'E', type: null, spanId: null, threadId: null, isGuardrail: false },
    ...{ status: 'processed', passed: true, score: null, label: null, details: null, errorJson: null, costJson: null },
    ...{ monitorId: null, insertedAtMs: nowMs, startedAtMs: nowMs, finishedAtMs: nowMs },
  };
  await app.store.traces.append({
    projectId: project.id,
    projectNumber: project.number,
    organizationId: project.organizationId,
    organizationNumber: project.organizationNumber,
    traceId,
    receivedAtMs: nowMs,
    expiredBeforeMs: null,
    spansMax: 1000,
    metadataJson: null,
    expectedOutput: undefined,
    spans: [],
    evaluations: allInputs.map((inputsJson, index) => ({ ...evaluation, evaluationId: `e${index}`, inputsJson })),
    requests: [],
  });
}

describe('a thousand results that refer to a text of a megabyte', () => {
  const MIB = 1024 * 1024;
  const output = 'long text '.repeat(100_000);

  it('are all answered, with few of the texts', async () => {
    await collect('amplified', { spans: [span('root', { input: 'q', output })] });
    const inputsJson = inputsToStore({ output }, { output: { spanId: 'root', name: 'output' } });
    await appendResults('amplified', Array<string>(1000).fill(inputsJson));
    const { text, body } = await callRest(app.address, { path: '/api/traces/amplified', headers: client.key() });
    const whole = (results: Body[]) => results.filter(({ inputs }) => inputs.output === output).length;
    expect([body.evaluations.length, whole(body.evaluations)]).toEqual([1000, 2]);
    expect(body.evaluations[999].inputs.output).toMatch(/^long text .*\[truncated: 1000000 bytes\] \[sha256 /);
    expect(text.length).toBeLessThan(8 * MIB);
    const search = {
      verb: 'POST',
      path: '/api/traces/search',
      headers: client.key(),
      body: { traceIds: ['amplified'] },
    };
    const found = await callRest(app.address, search);
    expect([found.body.traces[0].evaluations.length, whole(found.body.traces[0].evaluations)]).toEqual([1000, 0]);
    expect(found.text.length).toBeLessThan(4 * MIB);
  });
});
