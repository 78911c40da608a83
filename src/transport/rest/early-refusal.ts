/** Refusals of requests that end before a handler has seen them. */

import type { Duplex } from 'node:stream';
import { toBinary } from '@bufbuild/protobuf';
import { Fault } from '../../domain/fault.ts';
import type { CallIds } from '../../rpc/method.ts';
import { addIds, type IdSource } from '../call-ids.ts';
import type { CallLog } from '../call-log.ts';
import { firstHeader } from '../first-header.ts';
import type { Arrival } from '../origin.ts';
import { isGrpc, isRpcRequest } from '../rpc-request.ts';
import type { Problem, Refusal, RefusedRequest } from '../server-options.ts';
import { errorStatus, errorTrailers } from '../status.ts';
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
const NOTHING_KNOWN = { method: null, route: null, caller: 'none' } as const;

function arrivalFrom(socket: Duplex): Arrival {
  return { socket: socket as Arrival['socket'], headers: {}, hasBody: false };
}

export function refuseEarly(refused: RefusedRequest, { ids, callLog, socket }: EarlyRefusalDeps): Refusal {
  const { problem, target, headers: sent } = refused;
  const callIds = ids.next(firstHeader(sent, []));
  const fault = FAULTS[problem]();
  const path = target === null ? null : splitTarget(target).path;
  // Only a head that was read says that the request is one of an rpc protocol.
  const isRpc = problem === 'request_timeout' && isRpcRequest({ url: path ?? '', headers: sent });
  const answer = isRpc ? rpcRefusal(fault, sent['content-type'] ?? '', callIds) : restRefusal(fault, path, callIds);
  const transport = isRpc ? 'connect' : 'rest';
  const call = { ...NOTHING_KNOWN, path, ids: callIds, startedAtMs: callLog.nowMs(), arrival: arrivalFrom(socket) };
  callLog.ended({ ...call, transport, status: answer.status, fault });
  const headers = {
    'content-length': String(Buffer.byteLength(answer.body)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...answer.headers,
  };
  return { ...answer, headers: addIds(headers, callIds) };
}

function restRefusal(fault: Fault, path: string | null, ids: CallIds): Refusal {
  const { status, body, mediaType } = faultResponse(fault, familyOfPath(path ?? '/'), ids);
  return { status, headers: { 'content-type': mediaType }, body: body.join('') };
}

const CONNECT_LATE = { status: 504, code: 'deadline_exceeded' };

/** A late request gets the error of its protocol. Written without the Connect library, which may not be loaded. */
function rpcRefusal(fault: Fault, contentType: string, ids: CallIds): Refusal {
  if (isGrpc(contentType)) {
    const [mediaType = ''] = contentType.split(';', 1);
    return { status: 200, headers: { 'content-type': mediaType, ...errorTrailers(fault, 'flat', ids) }, body: '' };
  }
  const { message, details } = errorStatus(fault, 'flat', ids);
  const packed = details.map(({ desc, value }) => ({
    type: desc.typeName,
    value: Buffer.from(toBinary(desc, value)).toString('base64').replace(/=+$/, ''),
  }));
  const body = JSON.stringify({ code: CONNECT_LATE.code, message, details: packed });
  return { status: CONNECT_LATE.status, headers: { 'content-type': 'application/json' }, body };
}
