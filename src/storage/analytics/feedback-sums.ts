/** Sums up the feedback on the traces of a project, page by page, and yields to other reads in between. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { entriesOf } from '../../domain/analytics/entries.ts';
import { createFeedbackSums } from '../../domain/analytics/feedback-sums.ts';
import type { FeedbackAnswer, FeedbackQuery } from '../../domain/analytics/trace-analytics-store.ts';
import { FEEDBACK_WAITS_MS } from '../../domain/feedback/feedback-event.ts';
import { READ_MAX_MS, readPages } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import { type AnalyticsQueries, type AnalyticsRunner, readTraces } from './trace-scan.ts';

const EVENTS_AT_ONCE = 1_000;

type EventRow = RowOf<AnalyticsQueries['listFeedback']>;
type Groups = readonly (string | null)[];

export async function summariseFeedback(runner: AnalyticsRunner, query: FeedbackQuery): Promise<FeedbackAnswer> {
  const { queries, runQuery, nowMs } = runner;
  const { projectNumber, expiredBeforeMs, fromMs, toMs } = query;
  const sums = createFeedbackSums(query);
  const endsAtMs = nowMs() + READ_MAX_MS;
  const receivedFromMs = expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
  // An event may have come before its trace, and no longer than it waits.
  const firstMs = fromMs - FEEDBACK_WAITS_MS;
  const pages = readPages<EventRow>(EVENTS_AT_ONCE, (last) =>
    runQuery(queries.listFeedback, {
      ...{ projectNumber, fromMs, toMs, receivedFromMs, limit: EVENTS_AT_ONCE },
      afterMs: last?.receivedAtMs ?? firstMs,
      afterTraceId: last?.traceId ?? '',
      afterEventId: last?.eventId ?? '',
    }),
  );
  for await (const rows of pages) {
    const groups = await groupsOf(runner, query, rows);
    for (const row of rows) sums.add(row, groups(row.sequence));
    if (nowMs() > endsAtMs) return { kind: 'too_long' };
    await yieldToEventLoop();
  }
  return sums.answer();
}

/** The groups of the traces of some events; of a trace that does not count, none. */
async function groupsOf(
  runner: AnalyticsRunner,
  query: FeedbackQuery,
  rows: readonly EventRow[],
): Promise<(sequence: number) => Groups> {
  const { groupBy, conditions, projectNumber } = query;
  const { model, ...ofTrace } = conditions;
  const spans = groupBy === 'model' || model !== null;
  const metadata = (groupBy !== 'none' && !spans) || Object.values(ofTrace).some((value) => value !== null);
  if (!spans && !metadata) return () => [null];
  const groups = new Map<number, Groups>();
  const sequences = [...new Set(rows.map(({ sequence }) => sequence))];
  for await (const part of readTraces(runner, projectNumber, { sequences, needs: { metadata, spans } })) {
    for (const facts of part) {
      groups.set(
        facts.trace.sequence,
        entriesOf(query, facts).map(({ group }) => group),
      );
    }
  }
  return (sequence) => groups.get(sequence) ?? [];
}
