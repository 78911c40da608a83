import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Evaluation, Span } from '../../src/domain/traces/trace.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { NO_TELEMETRY_CUTS } from './conformance/retention-walk.ts';
import { bareSpan, RECEIVED_AT_MS, sampleAppend, sampleEvaluation } from './conformance/samples.ts';

const SPANS = 100;
const BYTES = 1024 * 1024;
const LARGE = `{"type":"text","value":"${'x'.repeat(BYTES)}"}`;
const TRACE = { traceId: 'trace', metadataJson: null, requests: [] };

let opened: ReturnType<typeof openCore>;
beforeEach(() => {
  opened = openCore({ file: ':memory:', clock: () => RECEIVED_AT_MS });
});
afterEach(() => opened.core.close());

const append = (spans: readonly Span[], evaluations: readonly Evaluation[] = []) =>
  opened.core.verbs.append([sampleAppend({ ...TRACE, spans, evaluations })]);
const spansWith = (texts: Partial<Span>) =>
  Array.from({ length: SPANS }, (_, index) => bareSpan({ spanId: `span ${index}`, ...texts }));
const evaluationsWith = (details: string | null) =>
  Array.from({ length: SPANS }, (_, index) => sampleEvaluation({ evaluationId: `evaluation ${index}`, details }));
const numberOf = (sql: string) => opened.db.prepare<[], number>(sql).pluck().get() ?? 0;
const countStored = () => numberOf('SELECT count(*) FROM large_texts');
const countUnused = () => numberOf('SELECT count(*) FROM unused_texts');
const countFreePages = () => Number(opened.db.pragma('freelist_count', { simple: true }));

/** What earlier builds stored. */
function moveIntoRows(): void {
  opened.db.exec(`UPDATE spans SET input = (SELECT text FROM large_texts WHERE number = cast(input AS integer))
    WHERE typeof(input) = 'blob'`);
  opened.db.exec('DELETE FROM large_texts; DELETE FROM unused_texts');
}

/** Runs steps of retention until everything is freed. */
async function freeAll(): Promise<void> {
  const removal = { port: 'telemetry', part: 'texts', cuts: NO_TELEMETRY_CUTS, after: 0 } as const;
  for (let steps = 0; ; steps += 1) {
    const { end } = await opened.core.verbs.removeExpired({ removal, rowsMax: 100 });
    if (end.next === null) return;
    expect(steps).toBeLessThan(4 * SPANS);
  }
}

describe('large texts that are replaced or removed', () => {
  it.each([
    ['spans', () => append(spansWith({ inputJson: LARGE })), () => append(spansWith({}))],
    ['evaluations', () => append([], evaluationsWith(LARGE)), () => append([], evaluationsWith(null))],
  ])('are freed a few at a time, by this append and later ones: those of %s', async (_, store, resend) => {
    await store();
    expect([countStored(), countUnused()]).toEqual([SPANS, 0]);
    await resend();
    expect(countUnused()).toBe(countStored());
    let left = countStored();
    expect(left).toBeGreaterThan(SPANS * 0.8);
    expect(countFreePages()).toBeLessThan(SPANS * 0.2 * (BYTES / 4096));
    while (left > 0) {
      await opened.core.verbs.append([sampleAppend({ requests: [] })]);
      expect(countStored()).toBeLessThan(left);
      expect(countStored()).toBeGreaterThanOrEqual(left - 20);
      left = countStored();
    }
    expect(countUnused()).toBe(0);
  });

  it('are freed by retention where no append comes', async () => {
    await append(spansWith({ inputJson: LARGE, outputJson: LARGE }), evaluationsWith(LARGE));
    const named = { projectNumber: 1, traceId: 'trace', expiredBeforeMs: null };
    await opened.core.verbs.removeTrace(named);
    expect(numberOf('SELECT count(*) FROM spans')).toBe(0);
    expect([countStored(), countUnused()]).toEqual([3 * SPANS, 3 * SPANS]);
    await freeAll();
    expect([countStored(), countUnused()]).toEqual([0, 0]);
  });

  it('stay as long as a row holds them', async () => {
    await append(spansWith({ inputJson: LARGE, outputJson: LARGE }), evaluationsWith(LARGE));
    opened.db.exec(`UPDATE spans SET cost_nano_usd = 1; UPDATE spans SET input = 'short' WHERE span_id = 'span 1'`);
    opened.db.exec(`DELETE FROM evaluations WHERE evaluation_id = 'evaluation 1'`);
    expect(countUnused()).toBe(2);
    await freeAll();
    expect([countStored(), countUnused()]).toEqual([3 * SPANS - 2, 0]);
    const held = `SELECT input FROM spans UNION ALL SELECT output FROM spans UNION ALL SELECT details FROM evaluations`;
    expect(numberOf(`SELECT count(*) FROM large_texts JOIN (${held}) ON number = cast(input AS integer)`)).toBe(
      3 * SPANS - 2,
    );
  });

  it('of earlier builds cut the batch that replaces them', async () => {
    await append(spansWith({ inputJson: LARGE }));
    moveIntoRows();
    const resent = spansWith({}).map((span) => sampleAppend({ ...TRACE, spans: [span] }));
    let waiting = resent;
    for (let batches = 0; waiting.length > 0; batches += 1) {
      const { length } = await opened.core.verbs.append(waiting);
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThanOrEqual(33);
      waiting = waiting.slice(length);
      expect(batches).toBeLessThan(SPANS);
    }
    expect(numberOf('SELECT count(*) FROM spans WHERE input IS NULL')).toBe(SPANS);
  });
});

it('a row with little text holds it itself', async () => {
  const text = (bytes: number) => JSON.stringify({ type: 'text', value: 'x'.repeat(bytes) });
  await append([bareSpan({ inputJson: text(15_000), outputJson: text(15_000), paramsJson: text(1_000) })]);
  expect(countStored()).toBe(0);
  await append([bareSpan({ inputJson: text(20_000), outputJson: text(15_000), paramsJson: text(1_000) })]);
  expect(countStored()).toBe(2);
});

it('expected outputs that are replaced cut their batch', async () => {
  const traces = Array.from({ length: SPANS }, (_, index) => ({ ...TRACE, traceId: `trace ${index}`, spans: [] }));
  for (const trace of traces) await opened.core.verbs.append([sampleAppend({ ...trace, expectedOutput: LARGE })]);
  const outcomes = await opened.core.verbs.append(
    traces.map((trace) => sampleAppend({ ...trace, expectedOutput: 'short' })),
  );
  expect(outcomes.length).toBeLessThanOrEqual(33);
});
