import { afterEach, describe, expect, it } from 'vitest';
import { readRepriceCommand } from '../../src/cli/reprice-arguments.ts';
import { createPriceResolver } from '../../src/domain/pricing/prices.ts';
import { type RepriceRequest, type RepriceResult, reprice } from '../../src/domain/pricing/reprice.ts';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { pricing } from '../support/pricing.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { RANGE, readCosts, sendTraces, setPrice, WITHIN_MS } from './repricing.ts';
import { runCli } from './run-cli.ts';

const apps: TestApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function start(): Promise<TestApp> {
  const app = await startApp();
  apps.push(app);
  return app;
}

/** The command line on a database whose server is stopped. */
async function runOn(app: TestApp, ...args: readonly string[]) {
  await app.stop();
  await app.store.close();
  return await runCli(['reprice', ...args], { ...app.database.environment, SPANDREL_SECRET: TEST_SECRET });
}

const DAY_MS = 86_400_000;

async function send(app: TestApp, body: Body): Promise<void> {
  const headers = { 'x-auth-token': app.projectKey };
  expect((await callRest(app.address, { verb: 'POST', path: '/api/collector', headers, body })).status).toBe(200);
}

/** Of requests on the day of the traces. */
async function spentNanoUsd(app: TestApp): Promise<number> {
  const path = `/api/gateway/v1/spend?from=${WITHIN_MS - DAY_MS}&to=${WITHIN_MS + DAY_MS}`;
  const { body } = await callRest(app.address, { path, headers: { authorization: `Bearer ${app.adminKey}` } });
  return body.total.cost.nano_usd;
}

/** The newest event of each request, by id. */
async function requestsOf(app: TestApp) {
  const path = `/api/webhooks/v1/events?from=0&to=${Date.now() + DAY_MS}&limit=200`;
  const { body } = await callRest(app.address, { path, headers: { authorization: `Bearer ${app.adminKey}` } });
  const newest = new Map<string, { readonly id: string; readonly cost: string | null }>();
  // The log is newest first.
  for (const { id, data } of body.data) {
    if (!newest.has(data.gateway_request_id)) {
      newest.set(data.gateway_request_id, { id, cost: data.cost?.total_usd ?? null });
    }
  }
  return [...newest.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const guardrail = { type: 'guardrail', output: { type: 'guardrail_result', value: { passed: true, cost: 0.5 } } };

function run(app: TestApp, wish: Partial<RepriceRequest>, pages = Number.POSITIVE_INFINITY): Promise<RepriceResult> {
  let left = pages;
  const { store } = app;
  const runCooperatively = async <T>(steps: Generator<undefined, T, void>) => runWithoutPauses(steps);
  return reprice(
    {
      store,
      prices: createPriceResolver({ pricing, store: store.management, runCooperatively }),
      nowMs: Date.now,
      report: () => undefined,
      isStopped: () => {
        left -= 1;
        return left < 0;
      },
    },
    {
      fromMs: WITHIN_MS - DAY_MS,
      toMs: WITHIN_MS + DAY_MS,
      projectId: null,
      isDryRun: false,
      emits: false,
      after: null,
      ...wish,
    },
  );
}

describe('spandrel reprice', () => {
  it('refuses a database that a server is using, and prints what it changes or would change', async () => {
    const app = await start();
    const ids = await sendTraces(app, [
      {},
      { metrics: { prompt_tokens: 100, cost: 3 } },
      { startedAtMs: WITHIN_MS - DAY_MS },
    ]);
    await setPrice(app, 0.01);
    expect(await readCosts(app, ids)).toEqual([null, 3, null]);
    const refused = await runCli(['reprice', ...RANGE], app.database.environment);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    const would = await runOn(app, ...RANGE, '--dry-run');
    expect(would).toMatchObject({
      code: 0,
      stdout: [
        'looked at 2 spans of 2 traces',
        'would change the cost of 1 spans',
        'before: 0 USD, 1 of them without a price',
        'after:  1 USD, 0 of them without a price\n',
      ].join('\n'),
    });
    expect(would.stderr).toContain('price traces 100/100');
    expect((await runOn(app, ...RANGE)).stdout).toContain('\nchanged the cost of 1 spans\n');
    expect((await runOn(app, ...RANGE)).stdout).toContain('\nchanged the cost of 0 spans\n');
  });

  it('prices by the overrides and the list of today, and leaves what others have said of the cost', async () => {
    const app = await start();
    const metrics = { prompt_tokens: 100 };
    const said = { name: 'explicit', metrics: { ...metrics, cost: 3 } };
    const listed = { model: 'gpt-5', metrics };
    const ids = await sendTraces(app, [{ metrics }, said, listed, { ...guardrail, metrics }, { metrics: {} }]);
    expect(await readCosts(app, ids)).toEqual([null, 3, 0.000125, 0.5, null]);
    await setPrice(app, 0.01);
    expect(await run(app, {})).toMatchObject({
      traces: 5,
      spans: 5,
      changed: 1,
      unpricedBefore: 1,
      unpricedAfter: 0,
      beforeNanoUsd: 0n,
      afterNanoUsd: 1_000_000_000n,
      stoppedAt: null,
    });
    expect(await readCosts(app, ids)).toEqual([1, 3, 0.000125, 0.5, null]);
    await setPrice(app, 0.02);
    expect(await run(app, { isDryRun: true })).toMatchObject({ changed: 1, afterNanoUsd: 2_000_000_000n });
    expect(await readCosts(app, ids)).toEqual([1, 3, 0.000125, 0.5, null]);
    expect(await run(app, { projectId: app.projectId })).toMatchObject({ changed: 1 });
    expect(await readCosts(app, ids)).toEqual([2, 3, 0.000125, 0.5, null]);
    await expect(run(app, { projectId: 'project_none' })).rejects.toThrow('there is no project project_none');
  });

  it('prices what a span says of audio, caches and service tiers as it was priced at first', async () => {
    const app = await start();
    const tokens = { prompt_tokens: 1000, completion_tokens: 100 };
    const spans = [
      { model: 'gpt-audio-mini', metrics: { ...tokens, input_audio_tokens: 500 } },
      { model: 'gpt-5', metrics: { ...tokens, service_tier: 'flex' } },
      { model: 'gpt-5', metrics: tokens, params: { service_tier: 'batch' } },
      { model: 'gpt-5', metrics: { ...tokens, service_tier: 'default' }, params: { service_tier: 'priority' } },
      { model: 'claude-sonnet-4-5', metrics: { ...tokens, cache_creation: { ephemeral_1h_input_tokens: 1000 } } },
    ];
    const ids = await sendTraces(app, spans);
    const costs = await readCosts(app, ids);
    expect(costs).toEqual([0.00554, 0.001125, 0.001125, 0.00225, 0.0105]);
    expect(await run(app, {})).toMatchObject({ spans: 5, changed: 0 });
    expect(await readCosts(app, ids)).toEqual(costs);
  });

  it('takes a result again for what a model without a price cost', async () => {
    const app = await start();
    await setPrice(app, 0.01);
    const [id = ''] = await sendTraces(app, [{ ...guardrail, metrics: { prompt_tokens: 100 } }]);
    expect(await readCosts(app, [id])).toEqual([1]);
    const [override] = await app.store.management.priceOverrides(app.organizationId);
    const expectedVersion = await app.store.management.version(app.organizationId);
    const removedPriceOverrides = [{ id: override?.id ?? '' }];
    const { organizationId } = app;
    await app.store.management.commit({ organizationId, expectedVersion, audit: [], removedPriceOverrides });
    expect(await run(app, {})).toMatchObject({ changed: 1, unpricedAfter: 0 });
    expect(await readCosts(app, [id])).toEqual([0.5]);
  });

  it('gives requests the cost of their calls; events tell it, and spend counts it, only when asked to', async () => {
    const app = await start();
    const [id = ''] = await sendTraces(app, [{ metrics: { prompt_tokens: 100 } }]);
    const outer = { type: 'llm', model: 'in-house', timestamps: { started_at: WITHIN_MS, finished_at: WITHIN_MS + 2 } };
    const spans = [
      { ...outer, span_id: 'wrapper', metrics: { prompt_tokens: 70 } },
      { ...outer, span_id: 'call', parent_id: 'wrapper', metrics: { prompt_tokens: 70 } },
      { ...outer, span_id: 'own', metrics: { prompt_tokens: 5 } },
    ];
    await send(app, { trace_id: 'pair', spans });
    const before = await requestsOf(app);
    expect(before.map(({ cost }) => cost)).toEqual([null, null, null]);
    await setPrice(app, 0.01);
    expect(await run(app, {})).toMatchObject({ changed: 4, requests: 3 });
    expect(await requestsOf(app)).toEqual(before);
    expect(await run(app, { emits: true })).toMatchObject({ changed: 0, requests: 3 });
    const after = await requestsOf(app);
    expect(after.map(({ cost }) => cost).toSorted()).toEqual(['0.05', '0.7', '1']);
    expect(after.map(({ id: eventId }) => eventId)).toEqual(before.map(({ id: eventId }) => `${eventId}:2`));
    expect(await spentNanoUsd(app)).toBe(1_750_000_000);
    // Everything is as it should be.
    expect(await run(app, { emits: true })).toMatchObject({ changed: 0, requests: 0 });
    expect(await requestsOf(app)).toEqual(after);
    expect(await readCosts(app, [id])).toEqual([1]);
  });

  it('emits nothing for a project that wants no events of requests', async () => {
    const app = await start();
    await sendTraces(app, [{ metrics: { prompt_tokens: 100 } }]);
    const before = await requestsOf(app);
    await setPrice(app, 0.01);
    const headers = { 'x-auth-token': app.projectKey };
    const off = { verb: 'PATCH', path: '/api/project/settings', headers, body: { emitRequestEvents: false } };
    expect((await callRest(app.address, off)).status).toBe(200);
    expect(await run(app, { emits: true })).toMatchObject({ changed: 1, requests: 0 });
    expect(await requestsOf(app)).toEqual(before);
  });

  it('continues where it was stopped, and skips no trace', async () => {
    const app = await start();
    const spans = Array.from({ length: 250 }, (_, index) => ({ startedAtMs: WITHIN_MS + (index % 90) }));
    const ids = await sendTraces(app, spans);
    await setPrice(app, 0.01);
    let changed = 0;
    let rounds = 0;
    for (let after: RepriceResult['stoppedAt'] = null; ; rounds += 1) {
      const result: RepriceResult = await run(app, { after }, 1);
      changed += result.changed;
      after = result.stoppedAt;
      if (after === null) break;
    }
    expect(rounds).toBeGreaterThan(1);
    expect(changed).toBe(250);
    expect(new Set(await readCosts(app, ids.slice(0, 5)))).toEqual(new Set([1]));
  });

  it.each([
    [['--from', '2026-01-01'], 'reprice takes --from <instant> and --to <instant>'],
    [['--from', 'yesterday', '--to', '2026-01-01'], '--from takes a date such as 2026-01-31 or 2026-01-31T12:00:00Z'],
    [['--from', '2026-01-02', '--to', '2026-01-01'], '--from must not be later than --to'],
    [
      ['--from', '2026-01-01', '--to', '2026-01-02', '--after', '?'],
      '--after takes what a run that was stopped has printed',
    ],
    [
      ['--from', '2026-01-01', '--to', '2026-01-02', '--all'],
      'reprice takes --from, --to, --project, --after, --dry-run and --emit',
    ],
    [
      ['--from', '2026-01-01', '--to', '2026-01-02', '--dry-run', '--emit'],
      '--dry-run changes nothing, so that it takes no --emit',
    ],
  ])('refuses %j', (args, problem) => {
    expect(readRepriceCommand(args)).toBe(problem);
  });
});
