import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unavailableFault } from '../../../src/domain/fault.ts';
import type { Store } from '../../../src/domain/store.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { callRest, expectEverywhere } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';
import { createClient as createEvaluatorClient } from '../evaluators/evaluators-client.ts';
import { createClient } from './evaluations-client.ts';

let app: TestApp;
let isFull = false;

/** A store that refuses traces while `isFull`. */
function fillable(store: Store): Store {
  const append: Store['traces']['append'] = async (append) => {
    if (isFull) throw unavailableFault('The store is full.', 1);
    return store.traces.append(append);
  };
  return { ...store, traces: { ...store.traces, append } };
}

beforeAll(async () => {
  app = await startApp({ wrapStore: fillable });
});
afterAll(async () => {
  await app.close();
});

const client = createClient(() => app);
const evaluators = createEvaluatorClient(() => app);

const PATH = '/api/evaluations/langevals/exact_match/evaluate';
const DATA = { output: 'a', expected_output: 'b', contexts: ['not read'] };

let traces = 0;
function nextTraceId(): string {
  traces += 1;
  return `00000000000000000000a5${String(traces).padStart(10, '0')}`;
}

function span(traceId: string) {
  const startedAt = Date.now();
  const timestamps = { started_at: startedAt, finished_at: startedAt + 5 };
  return { trace_id: traceId, spans: [{ span_id: 's1', type: 'span', name: 'root', timestamps }] };
}

describe('the result of a run', () => {
  it('is on the trace before the answer, as all evaluations are', async () => {
    const traceId = nextTraceId();
    await client.rest('/api/collector', span(traceId));
    const { body } = await client.rest(PATH, { data: DATA, trace_id: traceId, span_id: 'S1', name: 'Mine' });
    expect(body).toMatchObject({ status: 'processed', passed: false, stored: true });
    expect(body.evaluation_id).toMatch(/^eval_[0-9A-Za-z]{21}$/);
    const [stored, ...others] = await client.evaluationsOf(traceId);
    expect(others).toEqual([]);
    expect(stored).toEqual({
      evaluation_id: body.evaluation_id,
      evaluator_id: 'langevals/exact_match',
      name: 'Mine',
      type: 'langevals/exact_match',
      span_id: 'S1',
      is_guardrail: false,
      status: 'processed',
      passed: false,
      score: 0,
      label: null,
      details: body.details,
      error: null,
      inputs: { output: 'a', expected_output: 'b' },
      cost: null,
      monitor_id: null,
      timestamps: expect.any(Object),
    });
  });

  it('names the saved evaluator, or what the request names', async () => {
    const saved = await evaluators.create('Same', { evaluatorType: 'langevals/exact_match' });
    const traceId = nextTraceId();
    await client.rest(`/api/guardrails/${saved.slug}/evaluate`, { data: { ...DATA, trace_id: traceId, span_id: 'x' } });
    const named = { data: DATA, trace_id: traceId, evaluator_id: 'mine', evaluation_id: 'e1', name: 'N' };
    await client.rest(`/api/evaluations/${saved.id}/evaluate`, named);
    const results = (await client.evaluationsOf(traceId)).map((each) => [
      each.evaluator_id,
      each.name,
      each.is_guardrail,
      each.span_id,
    ]);
    expect(results).toHaveLength(2);
    expect(results).toContainEqual([saved.id, 'Same', true, 'x']);
    expect(results).toContainEqual(['mine', 'N', false, null]);
  });

  it('replaces one with the same id', async () => {
    const trace_id = nextTraceId();
    const send = (output: string) =>
      expectEverywhere(
        app.address,
        client.run(
          'langevals/exact_match',
          { data: { output, expected_output: 'b' }, trace_id, evaluation_id: 'same' },
          { status: 200, check: (body) => expect([body.evaluation_id, body.stored]).toEqual(['same', true]) },
        ),
      );
    await send('a');
    await send('b');
    expect((await client.evaluationsOf(trace_id)).map(({ passed }) => passed)).toEqual([true]);
  });

  it('is kept also when nothing came of the run', async () => {
    const trace_id = nextTraceId();
    const { body } = await client.rest('/api/guardrails/langevals/llm_boolean/evaluate', { data: DATA, trace_id });
    expect(body).toMatchObject({ status: 'skipped', passed: true, stored: true });
    const [stored] = await client.evaluationsOf(trace_id);
    expect(stored).toMatchObject({ status: 'skipped', passed: null, details: body.details, is_guardrail: true });
  });

  it('waits on a trace that is not known yet for the spans of it', async () => {
    const traceId = nextTraceId();
    await client.rest(PATH, { data: DATA, trace_id: traceId });
    await client.rest('/api/collector', span(traceId));
    const { body } = await callRest(app.address, {
      path: `/api/traces/${traceId}`,
      headers: client.key(),
    });
    expect([body.span_count, body.evaluations.length]).toEqual([1, 1]);
  });

  it('finds a trace whose id lost its leading zeros, and restores them for an unknown trace', async () => {
    const known = nextTraceId();
    await client.rest('/api/collector', span(known));
    await client.rest(PATH, { data: DATA, trace_id: known.replace(/^0+/, '') });
    expect(await client.evaluationsOf(known)).toHaveLength(1);
    const digits = 'b'.repeat(25);
    await client.rest(PATH, { data: DATA, trace_id: digits });
    expect(await client.evaluationsOf(digits.padStart(32, '0'))).toHaveLength(1);
    await client.rest(PATH, { data: DATA, trace_id: 'c'.repeat(24) });
    expect(await client.evaluationsOf('c'.repeat(24))).toHaveLength(1);
    await client.rest(PATH, { data: DATA, trace_id: 'my-trace' });
    expect(await client.evaluationsOf('my-trace')).toHaveLength(1);
  });

  it('is answered even when it cannot be written', async () => {
    isFull = true;
    try {
      const { status, body } = await client.rest(PATH, { data: DATA, trace_id: nextTraceId() });
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'processed', passed: false, stored: false });
    } finally {
      isFull = false;
    }
    // The line waits for the answer whether the store as a whole fails.
    await until(() => app.logged.join('\n').includes('could not be stored'));
  });
});

it('runs are counted by type and by what came of them', async () => {
  const page = await (await fetchChecked(app.address, '/metrics')).text();
  expect(page).toMatch(/spandrel_evaluations_total\{type="langevals\/exact_match",status="processed"\} [1-9]/);
  expect(page).toMatch(/spandrel_evaluation_seconds_count [1-9]/);
});
