/** Webhook endpoints for those who ask: not through the writer, which those wait for who send. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Endpoint } from '../../domain/endpoint.ts';
import type { WebhookStore } from '../../domain/webhook-store.ts';
import type { Ask } from '../questions.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import type { EndpointQuestions } from './stores.ts';

/** A list of all may be long; so many are read before others have their turn. */
const ROWS_AT_ONCE = 250;
const FIRST = { createdAtMs: -1, id: '' };

export function createEndpointReader(
  { listEndpoints, findEndpoint }: EndpointQuestions['endpoints'],
  ask: Ask,
): Pick<WebhookStore, 'endpoints' | 'endpoint'> {
  return {
    async endpoints(organizationId, { after, limit }) {
      const max = limit ?? Number.POSITIVE_INFINITY;
      const found: Endpoint[] = [];
      for (let place = after ?? FIRST; ; await turn()) {
        const { createdAtMs, id } = place;
        const count = Math.min(max - found.length, ROWS_AT_ONCE);
        const rows = await ask(listEndpoints, { organizationId, createdAtMs, id, limit: count });
        found.push(...rows.map((row) => unpackEndpoint(row)));
        const last = rows.at(-1);
        if (last === undefined || rows.length < ROWS_AT_ONCE || found.length >= max) return found;
        place = last;
      }
    },
    async endpoint(organizationId, id) {
      const [row] = await ask(findEndpoint, { organizationId, id });
      return row === undefined ? null : unpackEndpoint(row);
    },
  };
}
