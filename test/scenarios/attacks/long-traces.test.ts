/** Several clients read and digest one trace of very many spans: a read costs only its page. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { spanText, storeTrace } from '../../support/attack-traces.ts';
import { inParallel } from '../../support/scenario.ts';

const SPANS_MAX = 100_000;
const CLIENTS = 4;
const READS = 120;
const RESPONSE_MAX_BYTES = 8 * 1024 * 1024 + 64 * 1024;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
  // A tree with ten branches per span, and two texts per span.
  const wish = (index: number) => ({
    ...(index === 0 ? {} : { parentId: `s${Math.floor((index - 1) / 10)}` }),
    input: `what went into step ${index}`,
    output: `what came out of step ${index}`,
  });
  await storeTrace(target, { traceId: 'long', spans: SPANS_MAX, wish });
});
afterAll(() => target.close());

async function read(query: string) {
  const answer = await fetch(`${target.address}/api/traces/long${query}`, { headers: { 'x-auth-token': target.key } });
  const text = await answer.text();
  expect(answer.status, text.slice(0, 300)).toBe(200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(RESPONSE_MAX_BYTES);
  return JSON.parse(text);
}

it(`G1: a trace of ${SPANS_MAX} spans is read, paged and digested by ${CLIENTS} clients`, () =>
  target.attack({ id: 'G1', n: READS }, async ({ serves }) => {
    const reads = Array.from({ length: READS }, (_, index) => index);
    await Promise.all([
      inParallel(reads, CLIENTS, async (index) => {
        if (index % 4 === 3) return void (await read('?format=digest'));
        const page = await read('?spansLimit=100');
        expect(page).toMatchObject({ span_count: SPANS_MAX, spans: expect.objectContaining({ length: 100 }) });
        const cursor = encodeURIComponent(page.spans_next_cursor);
        expect((await read(`?spansLimit=${index % 2 === 0 ? 200 : 2_000}&spansCursor=${cursor}`)).span_count).toBe(
          SPANS_MAX,
        );
      }),
      serves(60),
    ]);
  }));

it(`G2: a client that appends to a trace of ${SPANS_MAX} spans, one at a time, costs what it appends`, () =>
  target.attack({ id: 'G2', n: READS }, async ({ serves }) => {
    const rejected = { spans: 0 };
    const appends = Array.from({ length: READS }, (_, index) => SPANS_MAX + index);
    await Promise.all([
      inParallel(appends, CLIENTS, async (index) => {
        const body = `{"trace_id":"long","spans":[${spanText(index, { input: 'more' })},${spanText(0, { input: 'again' })}]}`;
        const headers = { 'x-auth-token': target.key, 'content-type': 'application/json' };
        const answer = await fetch(`${target.address}/api/collector`, { method: 'POST', headers, body });
        const { partialSuccess } = JSON.parse(await answer.text());
        expect(answer.status).toBe(200);
        rejected.spans += partialSuccess.rejectedSpans;
      }),
      serves(60),
    ]);
    // A span that replaces another is always stored.
    expect(rejected.spans).toBe(READS);
  }));
