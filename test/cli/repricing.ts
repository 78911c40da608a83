/** Traces to be priced anew, over REST, and how they read back. */

import { expect } from 'vitest';
import { hex, llmTrace } from '../support/fixtures.ts';
import { type Body, callRest } from '../support/surfaces.ts';

export type Server = { readonly address: string; readonly projectKey: string; readonly adminKey: string };

export const WITHIN_MS = Date.parse('2026-10-15T12:00:00Z');
export const RANGE = ['--from', '2026-10-15', '--to', '2026-10-15T23:59:59.999Z'] as const;

/** Traces of one span each by the model nobody knows; returns their ids. */
export async function sendTraces(server: Server, spans: readonly Body[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const span of spans) {
    const { startedAtMs = WITHIN_MS, ...changes } = span;
    const sent = llmTrace(startedAtMs, hex(32));
    const body = { ...sent, spans: [{ ...sent.spans[0], model: 'in-house', ...changes }] };
    const headers = { 'x-auth-token': server.projectKey };
    const answer = await callRest(server.address, { verb: 'POST', path: '/api/collector', headers, body });
    expect(answer.status).toBe(200);
    ids.push(sent.trace_id);
  }
  return ids;
}

export async function setPrice({ address, adminKey }: Server, inputCostPerToken: number): Promise<void> {
  const body = { model: 'in-house', match: 'exact', inputCostPerToken, outputCostPerToken: 0 };
  const headers = { 'x-auth-token': adminKey };
  const answer = await callRest(address, { verb: 'POST', path: '/api/pricing/overrides', headers, body });
  expect(answer.status).toBe(201);
}

/** The total cost of each, which is that of its span. */
export async function readCosts({ address, projectKey }: Server, ids: readonly string[]): Promise<readonly Body[]> {
  const costs: Body[] = [];
  for (const id of ids) {
    const headers = { 'x-auth-token': projectKey };
    const { body } = await callRest(address, { path: `/api/traces/${id}`, headers });
    expect(body.metrics.total_cost).toBe(body.spans[0].metrics.cost);
    costs.push(body.metrics.total_cost);
  }
  return costs;
}
