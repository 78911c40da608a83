/** D7 and D8: limits of a single trace, and of all senders together. */

import { afterEach, expect, it } from 'vitest';
import { hex, llmTrace } from '../support/fixtures.ts';
import { inParallel, report } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { readTurns, slowdown } from '../support/turns.ts';

const MIB = 1024 * 1024;
const NOW = Date.now();

let database: TestDatabase | null = null;
let server: SpawnedServer | null = null;
afterEach(async () => {
  await server?.stop('SIGKILL');
  await database?.remove();
});

async function start(environment: { readonly [name: string]: string } = {}): Promise<SpawnedServer> {
  database = await createTestDatabase();
  server = await spawnServer({ ...database.environment, ...environment });
  return server;
}

const headers = { 'x-auth-token': PROJECT_KEY };
const SPANS = 50_000;
const REQUESTS = 100;
const RSS_MAX_BYTES = 400 * MIB;
const parentOf = (span: number) => Math.floor((span - 1) / 10);
/** A call and the calls below it differ: of two equal ones, one inside the other, only one would count. */
const promptOf = (span: number): number => (span === 0 ? 1 : 3 - promptOf(parentOf(span)));
const PROMPT = Array.from({ length: SPANS }, (_, span) => promptOf(span)).reduce((sum, tokens) => sum + tokens, 0);
/** Node returns the memory of successive 8 MiB pages late; the attacks use the same limit. */
const RSS_READING_MAX_BYTES = 600 * MIB;

it(`D7, T14: a trace of ${SPANS} spans in ${REQUESTS} requests has full totals and is read in full`, async () => {
  const { address, residentBytes } = await start();
  const traceId = hex(32);
  const each = SPANS / REQUESTS;
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 20);
  try {
    await inParallel(Array.from({ length: REQUESTS }), 8, async (_, index) => {
      const spans = Array.from({ length: each }, (_, database) => ({
        span_id: `span-${index * each + database}`,
        parent_id: index + database === 0 ? null : `span-${parentOf(index * each + database)}`,
        type: 'llm',
        model: 'gpt-5-nano',
        input: { type: 'text', value: 'What went in, some words of it.' },
        metrics: { prompt_tokens: promptOf(index * each + database), completion_tokens: 1 },
        timestamps: { started_at: NOW + (database % 7), finished_at: NOW + 100 },
      }));
      const body = { trace_id: traceId, spans };
      const answer = await callRest(address, { verb: 'POST', path: '/api/collector', headers, body });
      expect(answer.status).toBe(200);
    });
    const storing = peak;
    const seen = new Set<string>();
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = `spansLimit=5000&spansCursor=${encodeURIComponent(cursor)}`;
      const page = await callRest(address, { path: `/api/traces/${traceId}?${query}`, headers });
      expect(page.body).toMatchObject({
        span_count: SPANS,
        metrics: {
          prompt_tokens: PROMPT,
          completion_tokens: SPANS,
          total_cost: (PROMPT * 50 + SPANS * 400) / 1e9,
          unpriced_spans: 0,
        },
      });
      for (const { span_id } of page.body.spans) {
        expect(seen.has(span_id)).toBe(false);
        seen.add(span_id);
      }
      cursor = page.body.spans_next_cursor;
    }
    report({ id: 'D7', seed: 0, n: SPANS, lost: SPANS - seen.size, rss: peak, pass: seen.size === SPANS });
    expect(seen.size).toBe(SPANS);
    // Beside other tests Node returns memory late.
    expect(storing).toBeLessThanOrEqual(RSS_MAX_BYTES);
    expect(peak).toBeLessThanOrEqual(RSS_READING_MAX_BYTES);
  } finally {
    clearInterval(sampler);
  }
});

const OVERLOAD_MS = 60_000;
const INFLIGHT_MAX = 16;
const CLIENTS = INFLIGHT_MAX * 4;
const SPANS_EACH = 20;
const REFUSED_WITHIN_MS = 50;
const GROWTH_MAX = 1.2;
const BACK_WITHIN_MS = 2_000;

// The limits hold on an otherwise idle machine.
it('D8: four times as much as is let in, for a minute, is refused at once, takes no memory and leaves nothing behind', async () => {
  const overloaded = await start({ SPANDREL_MAX_INFLIGHT: String(INFLIGHT_MAX) });
  const send = createSender(overloaded.address);
  const speedOf = async () => {
    const startedMs = performance.now();
    await inParallel(Array.from({ length: 64 }), 4, async (_, index) => {
      expect((await send(index)).status).toBe(200);
    });
    return performance.now() - startedMs;
  };
  await speedOf();
  const calmMs = await speedOf();

  const turns = () => [readTurns(process.pid), readTurns(overloaded.child.pid ?? 0)] as const;
  const [own, its] = turns();
  const endsAtMs = performance.now() + OVERLOAD_MS;
  const refusedMs: number[] = [];
  const resident: number[] = [];
  let stored = 0;
  const sampler = setInterval(() => void resident.push(overloaded.residentBytes()), 100);
  await inParallel(Array.from({ length: CLIENTS }), CLIENTS, async (_, client) => {
    while (performance.now() < endsAtMs) {
      const { status, retryAfter, ms } = await send(client);
      if (status === 200) stored += 1;
      else {
        expect([status, retryAfter]).toEqual([503, '1']);
        refusedMs.push(ms);
      }
    }
  });
  clearInterval(sampler);
  const [ownAfter, itsAfter] = turns();
  const busy = slowdown(own, ownAfter) * slowdown(its, itsAfter);

  const quietSinceMs = performance.now();
  let backMs = await speedOf();
  while (backMs > calmMs * 2 && performance.now() - quietSinceMs < BACK_WITHIN_MS * 5) backMs = await speedOf();
  const tookMs = performance.now() - quietSinceMs - backMs;
  refusedMs.sort((one, other) => one - other);
  // The clients share the other processor and wait for each other, so the median shows the time of one refusal.
  const medianMs = (refusedMs[Math.floor(refusedMs.length / 2)] ?? 0) / busy;
  const middle = Math.floor(resident.length / 2);
  const growth = Math.max(...resident.slice(middle)) / Math.max(...resident.slice(0, middle));
  const pass = medianMs <= REFUSED_WITHIN_MS && growth <= GROWTH_MAX && tookMs <= BACK_WITHIN_MS;
  report({ id: 'D8', seed: 0, n: stored + refusedMs.length, p99: medianMs, rss: Math.max(...resident), pass });
  expect(stored).toBeGreaterThan(0);
  expect(refusedMs.length).toBeGreaterThan(0);
  expect(medianMs).toBeLessThanOrEqual(REFUSED_WITHIN_MS);
  expect(growth).toBeLessThanOrEqual(GROWTH_MAX);
  expect(tookMs).toBeLessThanOrEqual(BACK_WITHIN_MS);
});

/** Each client sends the same trace again and again: building new ones would take client time. */
function createSender(address: string) {
  const bodies = Array.from({ length: CLIENTS }, () => {
    const [span] = llmTrace(NOW).spans;
    const spans = Array.from({ length: SPANS_EACH }, () => ({ ...span, span_id: hex(16) }));
    return new TextEncoder().encode(JSON.stringify({ trace_id: hex(32), spans }));
  });
  return async (client: number) => {
    const body = bodies[client % CLIENTS];
    if (body === undefined) throw new Error('there are no bodies');
    const startedMs = performance.now();
    const answer = await fetch(`${address}/api/collector`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    await answer.arrayBuffer();
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), ms: performance.now() - startedMs };
  };
}
