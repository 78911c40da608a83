import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvaluationSurface } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { createClient as createMonitorClient } from '../monitors/monitors-client.ts';
import { createClient, evaluate, type RunBody } from './evaluations-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const client = createClient(() => app);
const monitors = createMonitorClient(() => app);

const MATCH = 'langevals/exact_match';
const OTHER_CASE: RunBody = { data: { output: 'A', expected_output: 'a' } };
const OFF = { status: 'skipped', details: 'Guardrail is not enabled', passed: true };

const passes = (passed: boolean) => ({ status: 200, check: (body: Body) => expect(body.passed).toBe(passed) });
const equals = (wanted: unknown) => ({ status: 200, check: (body: Body) => expect(body).toEqual(wanted) });
const expectRun = (name: string, body: RunBody, expected: Parameters<typeof client.run>[2]) =>
  expectEverywhere(app.address, client.run(name, body, expected));

async function makeMonitor(body: Body = {}): Promise<Body> {
  const evaluator = await monitors.evaluator();
  return await monitors.make({ name: 'Watch', evaluatorId: evaluator.id, executionMode: 'MANUALLY', ...body });
}

describe('a run by the name of a monitor', () => {
  it('runs its evaluator, by id and by slug, with the settings of evaluator, monitor and request over each other', async () => {
    const evaluator = await monitors.evaluator({ evaluatorType: MATCH, settings: { case_sensitive: true } });
    const plain = await makeMonitor({ evaluatorId: evaluator.id, parameters: { case_sensitive: null } });
    await expectRun(plain.id, OTHER_CASE, passes(false));
    const lax = await makeMonitor({ evaluatorId: evaluator.id, parameters: { case_sensitive: false } });
    await expectRun(lax.id, OTHER_CASE, passes(true));
    await expectRun(lax.slug, OTHER_CASE, passes(true));
    await expectRun(lax.slug, { ...OTHER_CASE, settings: { case_sensitive: true } }, passes(false));
  });

  it('calls the stored result as that of its evaluator', async () => {
    const monitor = await makeMonitor();
    const body = { ...OTHER_CASE, trace_id: 'of-a-monitor' };
    expect((await client.rest(`/api/evaluations/${monitor.slug}/evaluate`, body)).body.stored).toBe(true);
    const [stored] = await client.evaluationsOf('of-a-monitor');
    expect(stored).toMatchObject({ name: 'Judge', evaluator_id: monitor.evaluatorId, status: 'processed' });
  });

  it('takes a saved evaluator of that name first, and no monitor where a saved evaluator or a type is meant', async () => {
    const { id, slug } = await makeMonitor();
    for (const name of [id, slug]) {
      const { status, body } = await client.rest(`/api/evaluations/evaluators/${name}/evaluate`, OTHER_CASE);
      expect([status, body.error]).toEqual([404, `Evaluator not found with slug or id: ${name}`]);
    }
  });

  it('is not known once the monitor is deleted, and never in another project', async () => {
    const { id } = await makeMonitor();
    const other = await callRest(app.address, {
      verb: 'POST',
      path: '/api/projects',
      headers: { 'x-auth-token': app.adminKey },
      body: { name: 'Other' },
    });
    const headers = { 'x-auth-token': other.body.apiKey };
    await expectRun(id, OTHER_CASE, { status: 404, code: 'evaluator_not_found', headers });
    await monitors.rest('DELETE', `/api/monitors/${id}`);
    await expectRun(id, OTHER_CASE, { status: 404, code: 'evaluator_not_found' });
  });
});

describe('a monitor that is disabled', () => {
  it('passes everything as a guardrail before any other check, and stores nothing', async () => {
    const { id, slug } = await makeMonitor({ enabled: false });
    await expectRun(id, { ...OTHER_CASE, as_guardrail: true }, equals(OFF));
    const sent = { settings: { case_sensitive: 'maybe' }, trace_id: 'of-no-guardrail' };
    const { status, body } = await client.rest(`/api/guardrails/${slug}/evaluate`, sent);
    expect([status, body]).toEqual([200, OFF]);
    const request = { evaluator: slug, surface: EvaluationSurface.GUARDRAILS };
    expect(await callRpc(app.address, { method: evaluate, headers: client.key(), request })).toMatchObject({
      body: OFF,
    });
    expect(await client.evaluationsOf('of-no-guardrail')).toBeUndefined();
  });

  it('still runs when it is requested as an evaluator', async () => {
    const { id } = await makeMonitor({ enabled: false });
    await expectRun(id, OTHER_CASE, passes(true));
  });

  it('passes everything as a guardrail after its evaluator was deleted', async () => {
    const { id, evaluatorId } = await makeMonitor({ executionMode: 'AS_GUARDRAIL' });
    await expectRun(id, { ...OTHER_CASE, as_guardrail: true }, passes(true));
    await monitors.rest('DELETE', `/api/evaluators/${evaluatorId}`);
    await expectRun(id, { ...OTHER_CASE, as_guardrail: true }, equals(OFF));
    await expectRun(id, OTHER_CASE, { status: 404, code: 'evaluator_not_found' });
  });
});
