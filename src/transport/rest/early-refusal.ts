/** Refusals of requests that end before a handler has seen them. */

import type { Duplex } from 'node:stream';
import { Fault } from '../../domain/fault.ts';
import { addIds, type IdSource } from '../call-ids.ts';
import type { CallLog } from '../call-log.ts';
import type { Arrival } from '../origin.ts';
import type { Problem, Refusal, RefusedRequest } from '../server-options.ts';
import { familyOfPath, faultResponse } from './errors.ts';
import { splitTarget } from './path.ts';

const FAULTS: { readonly [K in Problem]: () => Fault } = {
  headers_too_large: () => new Fault('headers_too_large', 'The request headers are too large.'),
  uri_too_long: () => new Fault('uri_too_long', 'The request line is too long.'),
  request_timeout: () => new Fault('request_timeout', 'The request did not arrive in time.'),
  malformed: () => new Fault('malformed_request', 'The request is not valid HTTP.'),
};

type EarlyRefusalDeps = {
  readonly ids: IdSource;
  readonly callLog: CallLog;
  /** Where the request came from. */
  readonly socket: Duplex;
};

/** The call log has no more about such a request. */
const NOTHING_KNOWN = { transport: 'rest', method: null, route: null, caller: 'none' } as const;

function arrivalFrom(socket: Duplex): Arrival {
  return { socket: socket as Arrival['socket'], headers: {}, hasBody: false };
}

export function refuseEarly({ problem, target }: RefusedRequest, { ids, callLog, socket }: EarlyRefusalDeps): Refusal {
  const callIds = ids.next(() => undefined);
  const fault = FAULTS[problem]();
  const path = target === null ? null : splitTarget(target).path;
  const { status, body: chunks, mediaType } = faultResponse(fault, familyOfPath(path ?? '/'), callIds);
  const call = { ...NOTHING_KNOWN, path, ids: callIds, startedAtMs: callLog.nowMs(), arrival: arrivalFrom(socket) };
  callLog.ended({ ...call, status, fault });
  const body = chunks.join('');
  const headers = {
    'content-type': mediaType,
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return { status, headers: addIds(headers, callIds), body };
}
