/** Wires the parts for traces that several services and background jobs share. */

import { createCursorCodec } from '../domain/cursor.ts';
import { createTraceResults } from '../domain/evaluations/trace-results.ts';
import { createPriceResolver } from '../domain/pricing/prices.ts';
import { createKnownPrompts } from '../domain/prompts/known-prompts.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import { createThreads } from '../domain/threads/threads.ts';
import { createLosses, type LossMeter } from '../domain/traces/collector/losses.ts';
import { createTraceSearches } from '../domain/traces/search/trace-search.ts';
import { createTraceRows } from '../domain/traces/trace-rows.ts';
import { createTraces } from '../domain/traces/traces.ts';
import type { Deps } from './deps.ts';

/** What is known of the process beside the parts that every room is made of. */
type TracePartsDeps = Deps & { readonly runCooperatively: RunCooperatively; readonly lossMeter: LossMeter };

export function createTraceParts({
  store,
  config,
  pricing,
  rootKeys,
  runCooperatively,
  log,
  lossMeter,
  retentionNowMs,
}: TracePartsDeps) {
  const cursors = createCursorCodec(rootKeys.cursorKey);
  const limits = config.limits.traces;
  const traceDefaultDays = config.traceRetentionDays;
  const prices = createPriceResolver({ pricing, store: store.management, runCooperatively });
  const losses = createLosses({ meter: lossMeter, log });
  const { feedback, annotations } = store;
  const shared = { store: store.traces, feedback, annotations, cursors, runCooperatively, traceDefaultDays };
  const prompts = createKnownPrompts({ store: store.prompts });
  const traces = createTraces({ ...shared, retentionNowMs, prices, losses, prompts, limits });
  const rows = createTraceRows(shared);
  return {
    prices,
    traces,
    searches: createTraceSearches({ store: store.search, traces, rows, cursors, traceDefaultDays }),
    threads: createThreads({ store: store.analytics, traces, rows, cursors, traceDefaultDays }),
    results: createTraceResults({ ...shared, retentionNowMs, limits }),
  };
}
