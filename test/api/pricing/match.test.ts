import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PricingService } from '../../../gen/spandrel/v1/pricing_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { act, askAll, bearer } from '../organization/organization-client.ts';

const { matchPrice } = PricingService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

function match(lookup: { readonly model: string; readonly vendor?: string; readonly atMs?: number }) {
  const { model, vendor, atMs } = lookup;
  const query = new URLSearchParams({ model, ...(vendor === undefined ? {} : { vendor }) });
  if (atMs !== undefined) query.set('at', String(atMs));
  return {
    rest: { path: `/api/pricing/match?${query}` },
    method: matchPrice,
    request: {
      model,
      ...(vendor === undefined ? {} : { vendor }),
      ...(atMs === undefined ? {} : { at: { seconds: BigInt(atMs / 1000), nanos: 0 } }),
    },
  };
}

const expectMatch = (lookup: Parameters<typeof match>[0], found: Body) =>
  askAll(app, match(lookup), {
    headers: bearer(app.projectKey),
    status: 200,
    check: (body) => expect(body).toEqual({ match: found }),
  });

describe('the match of a name, over REST and gRPC', () => {
  it('is a row of the price list with its rates, tiers included', async () => {
    await expectMatch(
      { model: 'anthropic/claude-sonnet-4-5-20250929' },
      {
        source: 'registry',
        provider: 'anthropic',
        id: 'claude-sonnet-4-5',
        matched_form: 'claude-sonnet-4-5',
        rates: {
          inputCostPerToken: 0.000003,
          outputCostPerToken: 0.000015,
          cacheReadCostPerToken: 3e-7,
          cacheWriteCostPerToken: 0.00000375,
          cacheWrite1hCostPerToken: 0.000006,
          tiers: [
            {
              aboveTokens: 200_000,
              inputCostPerToken: 0.000006,
              outputCostPerToken: 0.0000225,
              cacheReadCostPerToken: 6e-7,
              cacheWriteCostPerToken: 0.0000075,
              cacheWrite1hCostPerToken: 0.000012,
            },
          ],
        },
        batchRates: {
          inputCostPerToken: 0.0000015,
          outputCostPerToken: 0.0000075,
          cacheReadCostPerToken: 1.5e-7,
          cacheWriteCostPerToken: 0.000001875,
          cacheWrite1hCostPerToken: 0.000003,
          tiers: [
            {
              aboveTokens: 200_000,
              inputCostPerToken: 0.000003,
              outputCostPerToken: 0.00001125,
              cacheReadCostPerToken: 3e-7,
              cacheWriteCostPerToken: 0.00000375,
              cacheWrite1hCostPerToken: 0.000006,
            },
          ],
        },
      },
    );
  });

  it('has the rates of audio, of requests and of service tiers where they are others', async () => {
    const check = async (model: string, rates: Body) =>
      await askAll(app, match({ model }), {
        headers: bearer(app.projectKey),
        status: 200,
        check: (body) => expect(body.match).toMatchObject(rates),
      });
    await check('gpt-audio-mini', { rates: { audioInputCostPerToken: 0.00001, audioOutputCostPerToken: 0.00002 } });
    await check('sonar', { rates: { costPerRequest: 0.012 } });
    await check('gpt-5', {
      rates: { inputCostPerToken: 0.00000125 },
      flexRates: { inputCostPerToken: 6.25e-7 },
      batchRates: { inputCostPerToken: 6.25e-7 },
      priorityRates: { inputCostPerToken: 0.0000025 },
    });
    await askAll(app, match({ model: 'deepseek-r1:8b', vendor: 'ollama' }), {
      headers: bearer(app.projectKey),
      status: 200,
      check: (body) => expect(body).toEqual({ match: null }),
    });
  });

  it('depends on the vendor and the instant, and is null for an unknown model', async () => {
    const rateOf = async (query: Parameters<typeof match>[0], rate: number) =>
      await askAll(app, match(query), {
        headers: bearer(app.projectKey),
        status: 200,
        check: (body) => expect(body.match.rates.inputCostPerToken).toBe(rate),
      });
    await rateOf({ model: 'o3', atMs: Date.parse('2025-06-09T23:59:59Z') }, 0.00001);
    await rateOf({ model: 'o3', atMs: Date.parse('2025-06-10T00:00:00Z') }, 0.000002);
    await askAll(app, match({ model: 'llama-3.3-70b-versatile', vendor: 'groq' }), {
      headers: bearer(app.projectKey),
      status: 200,
      check: (body) => expect(body.match.provider).toBe('groq'),
    });
    await expectMatch({ model: 'gpt-55' }, null);
  });

  it('is the override of the organization before anything else', async () => {
    const body = { model: 'gpt-5', match: 'exact', inputCostPerToken: 0.5, outputCostPerToken: 0.25 };
    const { id } = await act(app, 'POST', '/api/pricing/overrides', body);
    const rates = {
      inputCostPerToken: 0.5,
      outputCostPerToken: 0.25,
      cacheReadCostPerToken: 0.5,
      cacheWriteCostPerToken: 0.5,
      tiers: [],
    };
    await expectMatch(
      { model: 'openai/gpt-5-2025-08-07' },
      { source: 'override', provider: null, id, matched_form: 'gpt-5', rates },
    );
  });

  it('refuses a question without a name or with a wrong instant', async () => {
    const headers = bearer(app.projectKey);
    const nameless = { rest: { path: '/api/pricing/match' }, method: matchPrice, request: {} };
    await askAll(app, nameless, { headers, status: 422, code: 'validation_error' });
    await askAll(app, match({ model: 'x'.repeat(513) }), { headers, status: 422, code: 'validation_error' });
    const wrong = await callRest(app.address, { path: '/api/pricing/match?model=gpt-5&at=now', headers });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'validation_error', target: 'query', fields: ['at'] } });
  });

  it('is for those who may see the traces of the project', async () => {
    const matchCase = match({ model: 'gpt-5' });
    await askAll(app, matchCase, { headers: {}, status: 401, code: 'missing_credentials' });
    await askAll(app, matchCase, { headers: bearer('nope'), status: 401, code: 'invalid_credentials' });
    const keyWith = async (permission: string) => {
      const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, [permission])] });
      return { ...bearer(token), 'x-project-id': app.projectId };
    };
    await askAll(app, matchCase, { headers: await keyWith('traces:view'), status: 200 });
    const headers = await keyWith('evaluations:view');
    await askAll(app, matchCase, { headers, status: 403, code: 'api_key_permission_denied' });
    const hidden = { ...bearer(app.adminKey), 'x-project-id': 'project_unknown' };
    await askAll(app, matchCase, { headers: hidden, status: 401, code: 'unknown_project' });
  });
});
