/** Applies new prices to the tables. The caller begins and ends the transaction. */

import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import type { Replaced } from '../traces/trace-growth.ts';
import { sumUp } from '../traces/trace-sums.ts';
import { summaryOf } from '../traces/trace-totals.ts';
import type { NewPrice, PricedSpan, Repriced, RepricedTrace, Repricing } from './repricing.ts';

export function applyRepricing(tables: AppendTables, { projectNumber, nowMs, traces }: Repricing): Repriced {
  let count = 0;
  for (const trace of traces) count += repriceTrace(tables, trace, { projectNumber, nowMs });
  return { count };
}

type At = { readonly projectNumber: number; readonly nowMs: number };

function repriceTrace(tables: AppendTables, { traceId, prices }: RepricedTrace, { projectNumber, nowMs }: At): number {
  const record = tables.findTrace(projectNumber, traceId);
  if (record === undefined) return 0;
  const traceKey = { projectNumber, traceId: record.traceId, sequence: record.sequence };
  const replaced = prices.flatMap((price) => repriceSpan(tables, traceKey, price));
  if (replaced.length === 0) return 0;
  tables.updateTrace(traceKey, {
    insertedAtMs: record.insertedAtMs,
    ...sumUp(tables, traceKey, { record, added: [], replaced }),
    metadataJson: record.metadataJson,
    expectedOutput: record.expectedOutput,
    updatedAtMs: Math.max(record.updatedAtMs, nowMs),
  });
  return replaced.length;
}

function repriceSpan(
  tables: AppendTables,
  traceKey: TraceKey,
  { span: known, costNanoUsd, costSource }: NewPrice,
): readonly Replaced[] {
  const stored = tables.findWholeSpan(traceKey, known.spanId);
  // A span that was sent again meanwhile has a newer price.
  if (stored === undefined || !isAsKnown(stored.span, known)) return [];
  const next = { ...stored.span, costNanoUsd, costSource };
  tables.replaceSpan(traceKey, next, stored.emittedRequestId);
  return [{ old: summaryOf(stored.span), next: summaryOf(next) }];
}

function isAsKnown(span: PricedSpan, known: PricedSpan): boolean {
  return (Object.keys(known) as (keyof PricedSpan)[]).every((name) => span[name] === known[name]);
}
