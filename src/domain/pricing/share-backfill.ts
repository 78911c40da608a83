/** The backfill `trace-shares`: measures spans that were stored before shares existed, so that their usage counts once. */

import type { RewriteSome } from '../management/backfill.ts';
import { callKindOf } from '../traces/calls.ts';
import { SPANS_READ_THROUGH_MAX } from '../traces/trace-aggregates.ts';
import type { MeasuredTrace, Measurement, MeasuringStore, UnmeasuredSpan } from './measuring.ts';
import type { PriceResolver, Prices } from './prices.ts';
import { storedObject, storedQuery } from './stored-query.ts';

type ShareBackfillDeps = { readonly store: MeasuringStore; readonly prices: PriceResolver };

const TRACES_AT_ONCE = 100;
/** A small trace is measured whole: of two spans of one call that differ in this, both would count. */
const SPANS_AT_ONCE = SPANS_READ_THROUGH_MAX;
const FIRST_SEQUENCE = -1;

/** The cursor is the sequence of the last trace that is done. */
export function createShareBackfill({ store, prices }: ShareBackfillDeps): RewriteSome {
  return async (cursor) => {
    const afterSequence = cursor === '' ? FIRST_SEQUENCE : Number(cursor);
    const traces = firstOf(await store.traces({ afterSequence, limit: TRACES_AT_ONCE }));
    const last = traces.at(-1);
    if (last === undefined) return { cursor: null, rows: 0 };
    let rows = 0;
    let isDone = true;
    for (const some of Map.groupBy(traces, ({ projectNumber }) => projectNumber).values()) {
      const { read, measured } = await measureSome({ store, prices }, some);
      rows += read;
      // The rest of a large trace, and spans that were repriced meanwhile, are left to the next step.
      if (measured < read || read === SPANS_AT_ONCE) isDone = false;
    }
    return { cursor: isDone ? String(last.sequence) : cursor, rows };
  };
}

/** At least one trace, and of further ones as many as have few spans together. */
function firstOf(traces: readonly MeasuredTrace[]): readonly MeasuredTrace[] {
  let spans = 0;
  const end = traces.findIndex(({ spanCount }, index) => {
    spans += spanCount;
    return index > 0 && spans > SPANS_AT_ONCE;
  });
  return end === -1 ? traces : traces.slice(0, end);
}

/** `traces` are of one project. */
async function measureSome(
  { store, prices: resolver }: ShareBackfillDeps,
  traces: readonly MeasuredTrace[],
): Promise<{ readonly read: number; readonly measured: number }> {
  const [first] = traces;
  if (first === undefined) return { read: 0, measured: 0 };
  const { projectNumber, organizationId, priceVersion } = first;
  const sequences = traces.map(({ sequence }) => sequence);
  const spans = await store.spans({ projectNumber, sequences, limit: SPANS_AT_ONCE });
  if (spans.length === 0) return { read: 0, measured: 0 };
  const models = () => spans.flatMap(({ model }) => model ?? []);
  const prices = await resolver.of({ id: organizationId, priceVersion }, models);
  const bySequence = Map.groupBy(spans, ({ traceSequence }) => traceSequence);
  const { count } = await store.measure({
    kind: 'measuring',
    projectNumber,
    traces: traces.map(({ traceId, sequence }) => ({
      traceId,
      spans: (bySequence.get(sequence) ?? []).map((span) => measure(span, prices)),
    })),
  });
  return { read: spans.length, measured: count };
}

function measure(span: UnmeasuredSpan, prices: Prices): Measurement {
  const { spanId, costSource, type, name, model } = span;
  const call = callKindOf({ type, name, model, telemetry: storedObject(span.telemetryJson) ?? null });
  const measured = { source: costSource, isCall: call !== null };
  return { ...prices.measure(storedQuery(span, span.paramsJson), measured), spanId, costSource };
}
