/** Fault -> REST status and body, by error family. */

import { ErrorFamily, type Policy } from '../../../gen/spandrel/v1/options_pb.js';
import type { Fault, FaultKind, JsonValue } from '../../domain/fault.ts';
import type { CallIds } from '../../rpc/method.ts';
import { errorMetadata, faultMembers, faultType } from '../status.ts';
import { JSON_MEDIA_TYPE, type PreparedResponse } from './exchange.ts';
import { decodeSegment, rawSegments } from './path.ts';

export type Family = ErrorFamily.CANONICAL | ErrorFamily.FLAT;

const STATUS: { readonly [K in FaultKind]: number } = {
  bad_request: 400,
  invalid: 422,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  headers_too_large: 431,
  expectation_failed: 417,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
};

const CANONICAL_AREAS = new Set<string | null>(['webhooks', 'gateway']);

/** The family of any path, with or without a route. Escapes and slashes are read as the route table reads them. */
export function familyOfPath(path: string): Family {
  // Decoded one by one: a malformed escape further on does not change the family.
  const [root = '', area = ''] = rawSegments(path).slice(0, 2).map(decodeSegment);
  return root === 'api' && CANONICAL_AREAS.has(area) ? ErrorFamily.CANONICAL : ErrorFamily.FLAT;
}

/** The family of a route's rpc. */
export function familyOfPolicy({ errors }: Policy): Family {
  return errors === ErrorFamily.CANONICAL ? ErrorFamily.CANONICAL : ErrorFamily.FLAT;
}

/** The HTTP status of a failure. */
export function statusOf(fault: Fault, family: Family): number {
  return fault.kind === 'invalid' && family === ErrorFamily.CANONICAL ? 400 : STATUS[fault.kind];
}

/** The response to a failed request. */
export function faultResponse(fault: Fault, family: Family, ids: CallIds): PreparedResponse {
  const headers = errorMetadata(fault);
  const body = family === ErrorFamily.CANONICAL ? canonicalBody(fault, ids) : flatBody(fault, ids);
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
