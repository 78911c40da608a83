/** Which request a span names, and in which it counts. */

import { isObject } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import type { AppendTables, SpanRequests, StoredSpan } from '../events/append-tables.ts';
import { gatewayRequestId, isOwnRequestId } from '../events/request-event.ts';
import { findRequest } from '../events/request-record.ts';
import { isCall } from './calls.ts';
import type { Span, SpanRequest, SpanSummary, TraceAppend } from './trace.ts';

/** The project of a trace. */
export type RequestOwner = Pick<TraceAppend, 'projectId' | 'projectNumber' | 'organizationId' | 'organizationNumber'>;

type OfTrace = { readonly owner: RequestOwner; readonly traceId: string };

/** The request that a stored span has made, or the one of our gateway that it joined; null without. */
export function findOwnId(tables: AppendTables, { owner, traceId }: OfTrace, stored: StoredSpan): string | null {
  const { summary, paramsJson, emittedRequestId } = stored;
  const id = emittedRequestId ?? requestIdOfStored(traceId, { ...summary, paramsJson });
  if (id === null) return null;
  const row = findOf(tables, owner, id);
  // The project may have emitted no events when the span first came.
  return row !== undefined && (isOwnRequestId(id) || 'source' in row.state) ? id : null;
}

function findOf(tables: AppendTables, owner: RequestOwner, gatewayRequestId: string) {
  const { projectId, projectNumber, organizationNumber } = owner;
  return findRequest(tables.log(organizationNumber), { projectId, projectNumber, gatewayRequestId });
}

type Named = OfTrace & { readonly spanId: string };

/**
 * The request that a span counts in which names this one: an id of our gateway counts as named only where the project has
 * the request, and not where another installation has minted it.
 */
export function resolveRequestId(tables: AppendTables, { owner, traceId, spanId }: Named, id: string): string {
  if (!isOwnRequestId(id) || findOf(tables, owner, id) !== undefined) return id;
  return gatewayRequestId(traceId, spanId, null);
}

/** The member of parameters that names a request. */
export const REQUEST_ID_MEMBER = '"gateway_request_id"';

type StoredCall = Pick<SpanSummary, 'spanId' | 'type' | 'model' | 'callRow'> & Pick<Span, 'paramsJson'>;

/** Whether parameters, which can be large, may have to be read for the request id of a span. */
export function namesRequest({ paramsJson }: Pick<Span, 'paramsJson'>): boolean {
  return paramsJson?.includes(REQUEST_ID_MEMBER) === true;
}

/** The request id of a stored span; null when it is not a call. */
export function requestIdOfStored(traceId: string, { paramsJson, ...span }: StoredCall): string | null {
  // Earlier versions made a request of every span of this type.
  if (!isCall(span) && !(span.callRow === null && span.type === 'llm')) return null;
  const params: LosslessJson = paramsJson !== null && namesRequest({ paramsJson }) ? JSON.parse(paramsJson) : null;
  return gatewayRequestId(traceId, span.spanId, isObject(params) ? params : null);
}

const NO_REQUESTS: SpanRequests = Object.freeze({ emittedRequestId: null, sharedRequestId: null });

/** Notes the request that parameters name: they may be large, and later appends do not read them. */
export function requestsOfNew(tables: AppendTables, append: TraceAppend, span: Span): SpanRequests {
  return namesRequest(span) ? { ...NO_REQUESTS, emittedRequestId: presentIdOf(tables, append, span) } : NO_REQUESTS;
}

/** The request that a sent span names; null when it is not a call. */
export function presentIdOf(tables: AppendTables, append: TraceAppend, span: Span): string | null {
  const { traceId } = append;
  const { spanId } = span;
  const id = requestIdOfStored(traceId, span);
  return id === null ? null : resolveRequestId(tables, { owner: append, traceId, spanId }, id);
}

/** The requests of an append, with the ids in which they count. */
export function resolveRequests(tables: AppendTables, append: TraceAppend): readonly SpanRequest[] {
  const { traceId } = append;
  return append.requests.map((request) => {
    const { spanId = '' } = append.spans[request.spanIndex] ?? {};
    const id = resolveRequestId(tables, { owner: append, traceId, spanId }, request.gatewayRequestId);
    return id === request.gatewayRequestId ? request : { ...request, gatewayRequestId: id };
  });
}
