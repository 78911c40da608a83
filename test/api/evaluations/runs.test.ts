import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { completion, type Endpoint, startEndpoint } from '../../evaluation/judge/endpoint.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { createClient as createEvaluatorClient } from '../evaluators/evaluators-client.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';
import { createClient } from './evaluations-client.ts';

const { runEvaluatorOnTraces, getEvaluatorRun, listEvaluatorRuns, cancelEvaluatorRun } = EvaluationService.method;

let app: TestApp;
let endpoint: Endpoint;
let matcher: string;
let judge: string;
beforeAll(async () => {
  endpoint = await startEndpoint();
  app = await startApp({ environment: { SPANDREL_LLM_BASE_URL: endpoint.baseUrl } });
  const create = async (evaluatorType: string) => (await evaluators.create('Run me', { evaluatorType })).id;
  matcher = await create('langevals/exact_match');
  judge = await create('langevals/llm_boolean');
  for (let index = 0; index < 45; index += 1) await collect(`batch-${index}`, index % 3 === 0 ? 'right' : 'wrong');
});
afterAll(async () => {
  await app.close();
  await endpoint.close();
});

const client = createClient(() => app);
const evaluators = createEvaluatorClient(() => app);
const get = (path: string) => callRest(app.address, { path, headers: client.key() });

async function collect(traceId: string, output: string): Promise<void> {
  const startedAt = Date.now();
  const timestamps = { started_at: startedAt, finished_at: startedAt + 5 };
  const span = { span_id: 's', type: 'span', output: { type: 'text', value: output }, timestamps };
  await client.rest('/api/collector', { trace_id: traceId, expected_output: 'right', spans: [span] });
}

async function waitFor(id: string, isThere: (run: Body) => boolean): Promise<Body> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const { body } = await get(`/api/evaluations/runs/${id}`);
    if (isThere(body)) return body;
    if (Date.now() > deadlineMs) throw new Error(`the run never got there: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const hasEnded = ({ status }: Body) => status !== 'running';

describe('a run over traces', () => {
  it('puts a result on every trace that the search finds', async () => {
    const { status, body } = await client.rest(`/api/evaluators/${matcher}/run`, {});
    expect(status).toBe(201);
    expect(body).toMatchObject({ evaluator_id: matcher, status: 'running', traces_found: null, evaluated: 0 });
    const counts = { traces_found: 45, is_found_exactly: true, evaluated: 45, processed: 45, skipped: 0, failed: 0 };
    expect(await waitFor(body.id, hasEnded)).toMatchObject({ status: 'completed', error: null, ...counts });
    for (const [traceId, passed] of [
      ['batch-0', true],
      ['batch-1', false],
      ['batch-44', false],
    ] as const) {
      const stored = await client.evaluationsOf(traceId);
      expect(stored).toHaveLength(1);
      expect(stored[0]).toMatchObject({ evaluator_id: matcher, name: 'Run me', passed });
      expect(stored[0].evaluation_id).toMatch(/^eval_run_[0-9a-f]{32}$/);
    }
  });

  it('evaluates only traces that the search finds', async () => {
    const { body } = await client.rest(`/api/v1/evaluators/${matcher}/run`, {
      traceIds: ['batch-3', 'batch-4', 'none'],
    });
    expect(await waitFor(body.id, hasEnded)).toMatchObject({ status: 'completed', evaluated: 2 });
  });

  it('ends when it is cancelled, and keeps what was stored', async () => {
    endpoint.answer(...Array.from({ length: 45 }, () => 'hang' as const));
    const { body } = await client.rest(`/api/evaluators/${judge}/run`, {});
    await expectEverywhere(app.address, {
      name: 'cancel',
      headers: client.key(),
      rest: { verb: 'POST', path: `/api/evaluations/runs/${body.id}/cancel` },
      rpc: { method: cancelEvaluatorRun, request: { runId: body.id } },
      status: 200,
      check: (run) => expect([run.id, run.status]).toEqual([body.id, 'cancelled']),
    });
    const again = await callRest(app.address, {
      verb: 'DELETE',
      path: `/api/evaluations/runs/${body.id}`,
      headers: client.key(),
    });
    expect([again.status, again.body.status]).toEqual([200, 'cancelled']);
  });

  it('is listed among the runs of the project, the newest first', async () => {
    await expectEverywhere(app.address, {
      name: 'list',
      headers: client.key(),
      rest: { path: '/api/evaluations/runs?limit=1' },
      rpc: { method: listEvaluatorRuns, request: { pageSize: 1 } },
      status: 200,
      check: ({ runs }) => expect(runs.map(({ status }: Body) => status)).toEqual(['cancelled']),
    });
    expect((await get('/api/evaluations/runs?limit=201')).status).toBe(422);
  });
});

describe('a run is refused', () => {
  const start = (idOrSlug: string, expected: Partial<Parameters<typeof expectEverywhere>[1]> & { status: number }) =>
    expectEverywhere(app.address, {
      name: `run ${idOrSlug}`,
      headers: client.key(),
      rest: { verb: 'POST', path: `/api/evaluators/${idOrSlug}/run`, body: {} },
      rpc: { method: runEvaluatorOnTraces, request: { idOrSlug } },
      ...expected,
    });

  it('without a credential, with a wrong one, and without the permission', async () => {
    await start(matcher, { status: 401, code: 'missing_credentials', headers: {} });
    const wrong = { 'x-auth-token': `${app.projectKey.slice(0, -1)}!` };
    await start(matcher, { status: 401, code: 'invalid_credentials', headers: wrong });
    const asked = [
      { held: ['evaluations:view', 'traces:view'], missing: 'evaluations:manage' },
      { held: ['evaluations:manage'], missing: 'traces:view' },
    ];
    for (const { held, missing } of asked) {
      const { token } = await mint(app, restrictedTo(app, ...held));
      const headers = { 'x-auth-token': token, 'x-project-id': app.projectId };
      const check = (body: Body) => expect(body.permission).toBe(missing);
      await start(matcher, { status: 403, code: 'api_key_permission_denied', headers, check });
    }
  });

  it('of an evaluator that is not there, or cannot run', async () => {
    await start('nobody', { status: 404, code: 'evaluator_not_found' });
    const { id } = await evaluators.create('Cloud', { evaluatorType: 'openai/moderation' });
    await start(id, { status: 422, code: 'evaluator_unavailable' });
  });

  it('for filters that are none', async () => {
    const { status, body } = await client.rest(`/api/evaluators/${matcher}/run`, { filters: { nonsense: ['x'] } });
    expect([status, body.code]).toEqual([422, 'validation_error']);
  });

  it('for traces by the date of their last change, which the run itself moves', async () => {
    const { status, body } = await client.rest(`/api/evaluators/${matcher}/run`, { dateField: 'updated' });
    expect([status, body.code, body.fields]).toEqual([422, 'validation_error', ['dateField']]);
  });

  it('for dates in reverse, whatever evaluator it names', async () => {
    const startDate = new Date(Date.now() + 60_000);
    for (const dates of [{ startDate: 5, endDate: 4 }, { startDate: startDate.getTime() }]) {
      const { status, body } = await client.rest('/api/evaluators/nobody/run', dates);
      expect([status, body.code, body.fields]).toEqual([422, 'validation_error', ['startDate']]);
    }
    const reversed = { startDate: timestampFromMs(5), endDate: timestampFromMs(4) };
    await start(matcher, {
      status: 422,
      code: 'validation_error',
      rest: { verb: 'POST', path: `/api/evaluators/${matcher}/run`, body: { startDate: 5, endDate: 4 } },
      rpc: { method: runEvaluatorOnTraces, request: { idOrSlug: matcher, ...reversed } },
    });
  });

  it('when the project started sixty within the hour, though all have ended', async () => {
    const { body: busy } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers: { 'x-auth-token': app.adminKey },
      body: { name: 'Busy' },
    });
    const headers = { 'x-auth-token': busy.apiKey };
    const { body: saved } = await callRest(app.address, {
      verb: 'POST',
      path: '/api/evaluators',
      headers,
      body: { name: 'Same', config: { evaluatorType: 'langevals/exact_match' } },
    });
    const counts = { processed: 0, skipped: 0, failed: 0, tracesFound: 0, isFoundExactly: true };
    const ended = { projectId: busy.id, evaluatorId: saved.id, searchJson: '{}', cursor: '', error: null, ...counts };
    const anyNumber = { runningMax: 20, startedMax: 100, startedSinceMs: 0, endedBeforeMs: 0 };
    const insert = async (id: string, createdAtMs: number) => {
      const run = { ...ended, id, status: 'completed' as const, createdAtMs, updatedAtMs: createdAtMs };
      expect(await app.store.evaluatorRuns.insert(run, anyNumber)).toBe('stored');
    };
    await insert('run_of_earlier', Date.now() - 3_700_000);
    for (let index = 0; index < 59; index += 1) await insert(`run_${index}`, Date.now());
    const rest = { verb: 'POST', path: `/api/evaluators/${saved.id}/run`, body: {} };
    expect((await callRest(app.address, { ...rest, headers })).status).toBe(201);
    await start(saved.id, { status: 422, code: 'evaluator_run_limit_reached', headers });
  });

  it('is not shown where there is none of that id, nor to another project', async () => {
    await expectEverywhere(app.address, {
      name: 'get',
      headers: client.key(),
      rest: { path: '/api/evaluations/runs/run_nothing' },
      rpc: { method: getEvaluatorRun, request: { runId: 'run_nothing' } },
      status: 404,
      code: 'evaluator_run_not_found',
    });
    const { runs } = (await get('/api/evaluations/runs')).body;
    const other = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers: { 'x-auth-token': app.adminKey },
      body: { name: 'Other' },
    });
    const path = `/api/evaluations/runs/${runs[0].id}`;
    const hidden = await callRest(app.address, { path, headers: { 'x-auth-token': other.body.apiKey } });
    expect([hidden.status, hidden.body.code]).toEqual([404, 'evaluator_run_not_found']);
  });
});

it('a run whose worker ended is continued from its last position', async () => {
  const { evaluatorRuns: runs } = app.store;
  const search = {
    startMs: 0,
    endMs: Date.now(),
    query: '',
    filtersJson: '{"metadata.value":{"batch":null}}',
    negateFilters: false,
  };
  const nowMs = Date.now();
  const id = 'run_left';
  const counts = { processed: 3, skipped: 1, failed: 0, tracesFound: null, isFoundExactly: true };
  const run = { projectId: app.projectId, id, evaluatorId: matcher, cursor: '', error: null, ...counts };
  const searchJson = JSON.stringify({ ...search, traceIds: ['batch-20'], isByUpdate: false });
  // Its lease has expired, like that of a process killed earlier: one of an older version, with filters as JSON.
  const dead = { ...run, searchJson, status: 'running' as const, createdAtMs: nowMs, updatedAtMs: nowMs };
  await runs.insert(dead, { runningMax: 20, startedMax: 60, startedSinceMs: 0, endedBeforeMs: 0 });
  expect(await waitFor(id, hasEnded)).toMatchObject({ status: 'completed', processed: 4, skipped: 1, evaluated: 5 });
  expect(await runs.advance({ ...dead, fence: 0, failures: 0, leasedUntilMs: nowMs })).toBe(false);
  const stored = await client.evaluationsOf('batch-20');
  expect(stored.filter(({ evaluation_id: each }) => each.startsWith('eval_run_')).length).toBeGreaterThan(0);
});

it('judgements of a run that fail are counted and stored', async () => {
  const refusal = completion('', { message: { content: null, refusal: 'No.' } });
  endpoint.answer(refusal, refusal);
  const { body } = await client.rest(`/api/evaluators/${judge}/run`, { traceIds: ['batch-7', 'batch-8'] });
  expect(await waitFor(body.id, hasEnded)).toMatchObject({ status: 'completed', failed: 2, processed: 0 });
  const stored = await client.evaluationsOf('batch-7');
  expect(stored.map(({ status }) => status)).toContain('error');
});
