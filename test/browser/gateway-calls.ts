/** What gateways and administrators do beside the console. */

import { expect } from 'vitest';
import { callRest } from '../support/surfaces.ts';
import type { Stage } from './stage.ts';

export async function post({ address }: { readonly address: string }, path: string, key: string, body: object) {
  const answer = await callRest(address, { verb: 'POST', path, headers: { 'x-auth-token': key }, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** Reports a request that succeeded, by default of the shop. */
export async function report(stage: Stage, request: { readonly [name: string]: string }): Promise<void> {
  const record = {
    gateway_request_id: `request-${crypto.randomUUID()}`,
    ...{ status: 'success', project_id: stage.shop.id, occurred_at: Date.now(), ...request },
  };
  const body = await post(stage.app, '/api/gateway/v1/requests', stage.app.adminKey, { records: [record] });
  expect(body.accepted).toBe(1);
}
