/** Traces whose digest would be far larger than their request. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { storeTrace } from '../../support/attack-traces.ts';
import { inParallel } from '../../support/scenario.ts';

const DIGEST_MAX_BYTES = 1024 * 1024;
const RESPONSE_MAX_BYTES = 8 * 1024 * 1024;
/** Room for the JSON around the text. */
const FRAME_BYTES = 64 * 1024;
const READS = 100;
const CHAIN_READS = 40;
const DEPTH = 10_000;
const SERVED_MEANWHILE = 60;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

/** Makes each span the child of the previous one. */
const parentOf = (index: number) => (index === 0 ? {} : { parentId: `s${index - 1}` });

async function read(path: string, maxBytes: number): Promise<void> {
  const answer = await fetch(target.address + path, { headers: { 'x-auth-token': target.key } });
  const text = await answer.text();
  expect(answer.status, text.slice(0, 300)).toBe(200);
  expect(text.length).toBeGreaterThan(0);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes + FRAME_BYTES);
}

it('the digest of 190 chained spans of line breaks is bounded, and read by several at once', async () => {
  const lines = '\n'.repeat(2_000);
  const wish = (index: number) => ({ ...parentOf(index), input: lines, output: lines, error: lines });
  await storeTrace(target, { traceId: 'lines', spans: 190, wish });
  await target.attack({ id: 'B1', n: READS }, async ({ serves }) => {
    const reads = Array.from({ length: READS }, (_, index) => index);
    await Promise.all([
      inParallel(reads, 4, () => read('/api/traces/lines?format=digest', DIGEST_MAX_BYTES)),
      serves(SERVED_MEANWHILE),
    ]);
  });
});

it(`a chain of depth ${DEPTH} is answered, as a digest and as a tree`, async () => {
  await storeTrace(target, { traceId: 'chain', spans: DEPTH, wish: (index) => ({ ...parentOf(index), input: 'in' }) });
  await target.attack({ id: 'B2', n: 2 * CHAIN_READS }, async ({ serves }) => {
    const reads = Array.from({ length: CHAIN_READS }, (_, index) => index);
    await Promise.all([
      inParallel(reads, 2, async () => {
        await read('/api/traces/chain?format=digest', DIGEST_MAX_BYTES);
        await read('/api/traces/chain', RESPONSE_MAX_BYTES);
      }),
      serves(SERVED_MEANWHILE),
    ]);
  });
});
