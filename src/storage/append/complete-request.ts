/** Turns what a span says about a request into its row and event, inside the transaction that stores the span. */

import { allRequestKeys, completedData, type EventMetadata, eventIdOf } from '../../domain/request-event.ts';
import { nextRequestState } from '../../domain/request-state.ts';
import type { Span, SpanRequest, TraceAppend } from '../../domain/trace.ts';
import type { LogTables, NewEvent, RequestOutcome, RequestRow } from './tables.ts';

/** What one span says, with all that its event tells. */
export type Outcome = {
  readonly append: TraceAppend;
  readonly request: SpanRequest;
  readonly span: Span;
  /** What events tell of the merged metadata of the trace. */
  readonly metadata: () => EventMetadata;
};

/** Whose request is meant. */
type Claim = {
  readonly append: Pick<TraceAppend, 'projectId' | 'projectNumber'>;
  readonly gatewayRequestId: string;
};

/** Where a request is kept, or could be when there is no row. */
type Place =
  | { readonly key: string; readonly index: number; readonly row: RequestRow }
  | { readonly key: string; readonly index: number; readonly row: undefined };

/** Emits at most one event, and none for a request that has its outcome. */
export function completeRequest(log: LogTables, outcome: Outcome): void {
  const { append, request } = outcome;
  const { gatewayRequestId } = request;
  // Almost every request is new and nobody else's: then its id is its key, and one insert settles it.
  if (log.lastKeyIndex === 0 && insertNew(log, outcome, gatewayRequestId)) return;
  const place = locate(log, { append, gatewayRequestId });
  if (place.row !== undefined) continueOwn(log, outcome, place);
  else if (insertNew(log, outcome, place.key)) log.lastKeyIndex = Math.max(log.lastKeyIndex, place.index);
}

/** Whether the project has such a request, and it has its outcome. */
export function hasOutcome(log: LogTables, claim: Claim): boolean {
  const { row } = locate(log, claim);
  return row !== undefined && 'source' in row.state;
}

/** The request where the project has it; else the first key that is free for it. */
function locate(log: LogTables, { append, gatewayRequestId }: Claim): Place {
  let free: Place | null = null;
  let index = 0;
  for (const key of allRequestKeys(gatewayRequestId, append.projectId)) {
    const row = log.findRequest(key);
    // Another request may have for its own id what this one would get for its key.
    if (row?.projectNumber === append.projectNumber && (row.gatewayRequestId ?? key) === gatewayRequestId) {
      return { key, index, row };
    }
    if (row === undefined) free ??= { key, index, row };
    // An earlier key may have become free since: the request is looked for as far as any was ever kept.
    if (free !== null && index >= log.lastKeyIndex) return free;
    index += 1;
  }
  if (free === null) throw new Error('every key of a request is taken');
  return free;
}

function insertNew(log: LogTables, outcome: Outcome, key: string): boolean {
  const { append, request } = outcome;
  const row = {
    ...outcomeOf(outcome),
    projectNumber: append.projectNumber,
    gatewayRequestId: key === request.gatewayRequestId ? null : request.gatewayRequestId,
  };
  return log.insertRequest(key, row, () => eventOf(outcome, key));
}

function continueOwn(
  log: LogTables,
  outcome: Outcome,
  { key, row }: { readonly key: string; readonly row: RequestRow },
): void {
  const news = outcomeOf(outcome);
  if (nextRequestState(row.state, news.state).emits === null) return;
  log.completeRequest(key, news, () => eventOf(outcome, key));
}

function outcomeOf({ append, span }: Outcome): RequestOutcome {
  return {
    state: { status: span.errorJson === null ? 'success' : 'error', source: 'span' },
    costNanoUsd: span.costNanoUsd,
    receivedAtMs: append.receivedAtMs,
  };
}

function eventOf({ append, request, span, metadata }: Outcome, key: string): NewEvent {
  const id = eventIdOf(key, 'completed');
  const dataJson = completedData({ eventId: id, request, span, append, metadata: metadata() });
  return { id, type: 'gateway.request.completed', dataJson };
}
