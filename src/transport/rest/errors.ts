/** Fault -> REST response, by error family. */

import type { Fault, FaultKind, JsonValue } from '../../domain/fault.ts';
import type { CallIds } from '../../rpc/method.ts';
import { errorMetadata, type Family, faultMembers, faultType, statusOf } from '../status.ts';
import { JSON_MEDIA_TYPE, type PreparedResponse } from './exchange.ts';
import { API_ROOT, decodeSegment, rawSegments } from './path.ts';

const CANONICAL_AREAS = new Set<string | null>(['webhooks', 'gateway']);

/** The family of any path, with or without a route. Escapes and slashes are read as the route table reads them. */
export function familyOfPath(path: string): Family {
  // Decoded one by one: a malformed escape further on does not change the family.
  const [root = '', area = ''] = rawSegments(path).slice(0, 2).map(decodeSegment);
  return root === API_ROOT && CANONICAL_AREAS.has(area) ? 'canonical' : 'flat';
}

/** These are flat on every path: a head that is too large may be refused before its path is known. */
const ALWAYS_FLAT: ReadonlySet<FaultKind> = new Set<FaultKind>(['uri_too_long', 'headers_too_large']);

/** The response to a failed request; `ofRoute` is the family of its route. */
export function faultResponse(fault: Fault, ofRoute: Family, ids: CallIds): PreparedResponse {
  const family = ALWAYS_FLAT.has(fault.kind) ? 'flat' : ofRoute;
  const headers = errorMetadata(fault);
  const body = family === 'canonical' ? canonicalBody(fault, ids) : flatBody(fault, ids);
  return { status: statusOf(fault, family), headers, body: [JSON.stringify(body)], mediaType: JSON_MEDIA_TYPE };
}

function canonicalBody(fault: Fault, ids: CallIds): object {
  const meta = faultMembers(fault, 'canonical');
  return {
    error: {
      type: faultType(fault.kind, 'canonical'),
      code: fault.code,
      message: fault.message,
      ...(Object.keys(meta).length > 0 ? { meta } : {}),
      ...(ids.traceId === '' ? {} : { trace_id: ids.traceId, span_id: ids.spanId }),
    },
  };
}

/** The body of the flat family. */
export function flatBody(fault: Fault, ids: CallIds): object {
  const named: Record<string, JsonValue> = { error: fault.flatError, message: fault.message, code: fault.code };
  const { postedTraceId, ...meta } = fault.meta;
  const posted: Record<string, JsonValue> = postedTraceId === undefined ? {} : { postedTraceId };
  const traced: Record<string, JsonValue> =
    ids.traceId === ''
      ? {}
      : { trace_id: ids.traceId, span_id: ids.spanId, trace: { traceId: ids.traceId, spanId: ids.spanId, ...posted } };
  return { ...named, ...meta, ...named, ...traced };
}
