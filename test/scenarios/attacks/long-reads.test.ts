/** Long reads of one project over traces with very many labels: searches and sums of another project take turns with them. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { inParallel } from '../../support/scenario.ts';

const TRACES = 600;
const LABELS = 500;
const LABEL_CHARACTERS = 200;
const CLIENTS = 16;
const READS = 160;
const SERVED_MEANWHILE = 200;
const DAY_MS = 86_400_000;
/** An attacker may be told to come back later. */
const ANSWERED_OR_REFUSED = [200, 503];

let target: Target;
beforeAll(async () => {
  target = await startTarget({}, { searches: true });
  const traces = Array.from({ length: TRACES }, (_, index) => index);
  await inParallel(traces, 4, async (index) => {
    expect(await ask('/api/collector', wideTrace(index))).toBe(200);
  });
});
beforeEach(() => target.revive());
afterAll(() => target.close());

/** No other trace has one of its labels. */
function wideTrace(index: number): object {
  const startedAt = Date.now();
  const labels = Array.from({ length: LABELS }, (_, label) => `${index}-${label}-`.padEnd(LABEL_CHARACTERS, 'w'));
  const timestamps = { started_at: startedAt, finished_at: startedAt + 1 };
  const spans = [{ span_id: 's', type: 'llm', model: 'gpt-5', timestamps }];
  return { trace_id: `wide-${index}`, metadata: { user_id: `user ${index}`, labels }, spans };
}

async function ask(path: string, body: object | null): Promise<number> {
  const headers = { 'x-auth-token': target.key, 'content-type': 'application/json' };
  const asked = body === null ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(target.address + path, asked);
  await answer.text();
  return answer.status;
}

function sumsBy(group: string): string {
  const toMs = Date.now() + DAY_MS;
  return `/api/analytics?from=${toMs - 30 * DAY_MS}&to=${toMs}&group_by=${group}`;
}

it.each<readonly [id: string, what: string, path: string, body: object | null]>([
  ['R1', 'sums by label', sumsBy('label'), null],
  ['R2', 'sums by user', sumsBy('user_id'), null],
  ['R3', 'counts of all values', '/api/traces/facets', {}],
  ['R4', 'values of a label', '/api/traces/facets/values', { name: 'metadata.labels', prefix: '1' }],
  ['R5', 'negated labels', '/api/traces/search', { filters: { 'metadata.labels': ['none'] }, negateFilters: true }],
  ['R6', 'a text nobody wrote', '/api/traces/search', { query: 'www nobody wrote this' }],
])('%s: %s, by 16 clients that never rest', (id, _, path, body) =>
  target.attack({ id, n: READS }, async ({ serves }) => {
    const reads = Array.from({ length: READS }, (_each, index) => index);
    const statuses = new Set<number>();
    await Promise.all([
      inParallel(reads, CLIENTS, async () => void statuses.add(await ask(path, body))),
      serves(SERVED_MEANWHILE),
    ]);
    expect([...statuses].filter((status) => !ANSWERED_OR_REFUSED.includes(status))).toEqual([]);
    expect(statuses).toContain(200);
  }),
);
