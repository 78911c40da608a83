/** Long reads of one project over traces with very many labels: searches and sums of another project take turns with them. */

import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ATTACKER_HOST, startTarget, type Target } from '../../support/attack-target.ts';
import { inParallel } from '../../support/scenario.ts';

const TRACES = 600;
const LABELS = 500;
const LABEL_CHARACTERS = 200;
const CLIENTS = 8;
const READS = 24;
const SERVED_MEANWHILE = 300;
const DAY_MS = 86_400_000;

let target: Target;
beforeAll(async () => {
  target = await startTarget({}, { searches: true });
  const traces = Array.from({ length: TRACES }, (_, index) => index);
  await inParallel(traces, 4, async (index) => {
    expect(await askAsAttacker('/api/collector', wideTrace(index))).toBe(200);
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

/** From the address of the attackers: answers that wait for a caller are counted by address. */
function askAsAttacker(path: string, body: object | null): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'x-auth-token': target.key, 'content-type': 'application/json' };
  const options = { method: body === null ? 'GET' : 'POST', headers, localAddress: ATTACKER_HOST };
  const sent = request(target.address + path, options, (response) => {
    response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
    response.resume();
  });
  sent.on('error', reject);
  sent.end(body === null ? undefined : JSON.stringify(body));
  return promise;
}

function sumsBy(group: string): string {
  const toMs = Date.now() + DAY_MS;
  return `/api/analytics?from=${toMs - 30 * DAY_MS}&to=${toMs}&group_by=${group}`;
}

type Read = { readonly path: string; readonly body: object | null };

async function attackWith(
  id: string,
  { path, body }: Read,
  { reads, statuses }: { reads: number; statuses: number[] },
) {
  await target.attack({ id, n: reads }, async ({ serves }) => {
    const seen = new Set<number>();
    const ask = async () => void seen.add(await askAsAttacker(path, body));
    await Promise.all([inParallel(Array.from({ length: reads }), CLIENTS, ask), serves(SERVED_MEANWHILE)]);
    expect(statuses).toEqual(expect.arrayContaining([...seen]));
    expect(seen).toContain(statuses[0]);
  });
}

const SEARCH = '/api/traces/search';

it.each<[id: string, what: string, read: Read]>([
  ['R2', 'sums by user', { path: sumsBy('user_id'), body: null }],
  ['R3', 'counts of all values', { path: '/api/traces/facets', body: {} }],
  ['R4', 'values of a label', { path: '/api/traces/facets/values', body: { name: 'metadata.labels', prefix: '1' } }],
  ['R5', 'negated labels', { path: SEARCH, body: { filters: { 'metadata.labels': ['none'] }, negateFilters: true } }],
  ['R6', 'a text nobody wrote', { path: SEARCH, body: { query: 'www nobody wrote this' } }],
])('%s: %s, by eight clients that never rest', (id, _, read) =>
  // A search of theirs that waited too long for its turn is told to come again.
  attackWith(id, read, { reads: READS, statuses: [200, 503] }),
);

it('R1: sums by label, of so many labels that they are given up after half a minute', () =>
  attackWith('R1', { path: sumsBy('label'), body: null }, { reads: 2, statuses: [503] }));
