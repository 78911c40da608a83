import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withShares } from '../../../src/domain/traces/shares/shares.ts';
import { SPAN_TYPES, type SpanSummary } from '../../../src/domain/traces/trace.ts';
import {
  aggregatesOf,
  choiceOf,
  readAggregates,
  type TraceChoice,
} from '../../../src/domain/traces/trace-aggregates.ts';
import { createRecomputation, grow, type TraceState } from '../../../src/domain/traces/trace-growth.ts';
import { totalsOf } from '../../../src/domain/traces/trace-totals.ts';
import { runsOf } from '../../support/scenario.ts';
import { sorted, summary } from './summaries.ts';

// Few values, so that ties, replacements, late parents, cycles and empty sums are frequent.
const count = fc.option(fc.integer({ min: 0, max: 3 }));
const instant = fc.integer({ min: 0, max: 6 });
const id = fc.constantFrom(...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '\uff01', '\u{1f600}']);
const spans: fc.Arbitrary<SpanSummary> = fc
  .record({
    spanId: id,
    parentId: fc.option(id),
    type: fc.constantFrom(...SPAN_TYPES),
    name: fc.option(fc.constantFrom('n', 'm')),
    model: fc.option(fc.constantFrom('m1', 'm2', 'm3')),
    startedAtMs: instant,
    finishedAtMs: instant,
    firstTokenAtMs: fc.option(instant),
    promptTokens: count,
    completionTokens: count,
    reasoningTokens: count,
    cacheReadInputTokens: count,
    cacheCreationInputTokens: count,
    costNanoUsd: count,
    tokensEstimated: fc.boolean(),
    hasInput: fc.boolean(),
    hasOutput: fc.boolean(),
    hasError: fc.boolean(),
  })
  .map(summary);

describe('the aggregates of a trace', () => {
  it('equal a recomputation after any additions and replacements, or are null', () => {
    let grownCount = 0;
    let refusedCount = 0;
    fc.assert(
      fc.property(fc.array(fc.array(spans, { maxLength: 3 }), { minLength: 1, maxLength: 12 }), (appends) => {
        const stored = new Map<string, SpanSummary>();
        let state = stateOf([]);
        for (const sent of appends) {
          const grown = append(stored, state, sent);
          if (grown === null) refusedCount += 1;
          else grownCount += 1;
          const all = [...stored.values()];
          const expected = stateOf(all);
          if (grown !== null) expect(grown).toEqual(expected);
          // As stored and read again.
          state = { totals: expected.totals, aggregates: readAggregates(JSON.stringify(expected.aggregates)) };
          expect(choiceOf(expected.aggregates)).toEqual(chooseNaively(all));
          const recomputation = createRecomputation();
          for (const span of all) recomputation.add({ ...span, isParentless: isParentless(span, stored) });
          expect(recomputation.end()).toEqual(stateOf(withShares(all)));
        }
      }),
      { numRuns: runsOf(2000) },
    );
    // About half of these appends change what represents the trace.
    expect(grownCount).toBeGreaterThan(refusedCount / 2);
  });

  it('need no recomputation when children come before their parents, or spans are sent again', () => {
    const spansOfChain = Array.from({ length: 1000 }, (_, index) =>
      summary({
        spanId: `s${index}`,
        parentId: index === 0 ? null : `s${index - 1}`,
        startedAtMs: index,
        finishedAtMs: 5000 - index,
      }),
    );
    const stored = new Map<string, SpanSummary>();
    let state = stateOf([]);
    for (const span of [...spansOfChain.toReversed(), ...spansOfChain]) {
      const grown = append(stored, state, [span]);
      if (grown === null) throw new Error(`It needs a recomputation with ${span.spanId}.`);
      state = grown;
    }
    expect(state).toEqual(stateOf(spansOfChain));
  });
});

function stateOf(all: readonly SpanSummary[]): TraceState {
  return { totals: totalsOf(all), aggregates: aggregatesOf(all) };
}

function isParentless({ parentId }: SpanSummary, stored: ReadonlyMap<string, SpanSummary>): boolean {
  return parentId === null || !stored.has(parentId);
}

/** Stores the sent spans, each id once, and returns the grown state. */
function append(stored: Map<string, SpanSummary>, state: TraceState, sent: readonly SpanSummary[]): TraceState | null {
  const added: SpanSummary[] = [];
  const replaced: { old: SpanSummary; next: SpanSummary }[] = [];
  for (const next of new Map(sent.map((span) => [span.spanId, span])).values()) {
    const old = stored.get(next.spanId);
    if (old === undefined) added.push(next);
    else replaced.push({ old, next });
    stored.set(next.spanId, next);
  }
  return grow(state, { added, replaced, reshared: [], isStored: (spanId) => stored.has(spanId) });
}

/** Applies the rules of derived values to all spans. */
function chooseNaively(all: readonly SpanSummary[]): TraceChoice {
  const byStart = sortedByBytes(all);
  const ids = new Set(all.map(({ spanId }) => spanId));
  const topLevel = byStart.filter(({ parentId }) => parentId === null);
  const orphans = byStart.filter(({ parentId }) => parentId !== null && !ids.has(parentId));
  const isJudge = ({ type }: SpanSummary) => type === 'evaluation' || type === 'guardrail';
  const latest = (some: readonly SpanSummary[]) =>
    some.reduce<SpanSummary | undefined>(
      (a, b) => (a !== undefined && a.finishedAtMs >= b.finishedAtMs ? a : b),
      undefined,
    );
  const root = topLevel[0] ?? orphans[0] ?? byStart[0];
  const last = latest(topLevel);
  const input = root?.hasInput ? root : byStart.find((span) => span.hasInput && !isJudge(span));
  const answers = byStart.filter((span) => span.hasOutput && !isJudge(span) && span.type !== 'tool');
  const output = [root, last].find((span) => span?.hasOutput) ?? latest(answers);
  const error = root?.hasError ? root : byStart.find((span) => span.hasError);
  return {
    rootId: root?.spanId ?? null,
    inputFromId: input?.spanId ?? null,
    outputFromId: output?.spanId ?? null,
    errorFromId: error?.spanId ?? null,
    name: root === undefined ? '' : (root.name ?? root.type),
    models: [...new Set(byStart.toReversed().flatMap(({ model }) => model ?? []))],
  };
}

function sortedByBytes(all: readonly SpanSummary[]): readonly SpanSummary[] {
  return [...sorted(...all)].sort(
    (a, b) => a.startedAtMs - b.startedAtMs || Buffer.compare(Buffer.from(a.spanId), Buffer.from(b.spanId)),
  );
}
