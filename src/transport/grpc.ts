/**
 * The short path of unary gRPC: one message in, one message out, straight from HTTP/2 frames to the pipeline.
 * All other calls (streams, compression, gRPC with JSON, expectations) go through the Connect router.
 */

import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { toBinary } from '@bufbuild/protobuf';
import { Fault } from '../domain/fault.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import { type Invoke, toFault } from '../rpc/invoke.ts';
import type { CallerKind, CallIds, Method, UnaryMethod, UnaryResponse } from '../rpc/method.ts';
import type { InvokeStream } from '../rpc/streams/invoke-stream.ts';
import { deadlineFault, parseGrpcTimeout } from './call-deadline.ts';
import { addIds, type IdSource } from './call-ids.ts';
import type { CallLog } from './call-log.ts';
import { firstHeader } from './first-header.ts';
import { readGrpcMessage } from './grpc-message.ts';
import { decodeRequest } from './message-decode.ts';
import { type OriginOf, socketOf } from './origin.ts';
import type { ReadBudget } from './read-budget.ts';
import type { ResponseWatch } from './response-watch.ts';
import { capInstants } from './rpc-instants.ts';
import type { Handlers } from './server-options.ts';
import { errorTrailers, type Family, familyOf, statusOf } from './status.ts';

const CONTENT_TYPE = 'application/grpc';
const PREFIX_BYTES = 5;
const WAIT_FOR_TRAILERS = { waitForTrailers: true };
const END_STREAM = { endStream: true };
const TRAILERS_OK = { 'grpc-status': '0' };

/** What every protocol needs to serve calls. */
export type CallDeps = {
  readonly methods: readonly Method[];
  readonly invoke: Invoke;
  readonly invokeStream: InvokeStream;
  readonly ids: IdSource;
  readonly originOf: OriginOf;
  readonly responses: ResponseWatch;
  readonly callLog: CallLog;
  readonly reading: ReadBudget;
  readonly runCooperatively: RunCooperatively;
};

/** Serves the unary rpcs of `methods` to gRPC clients. */
export function createGrpc(deps: CallDeps): Handlers['grpc'] {
  const { methods, ids } = deps;
  const unary = methods.filter((method) => method.kind === 'unary');
  const byPath = new Map(unary.map((method) => [method.path, method]));
  const methodOf = (headers: IncomingHttpHeaders) => byPath.get(String(headers[':path']));
  return {
    accepts(headers) {
      if (headers[':method'] !== 'POST' || headers.expect !== undefined || !methodOf(headers)) return false;
      const type = headers['content-type'];
      if (type !== CONTENT_TYPE && type !== 'application/grpc+proto') return false;
      const encoding = headers['grpc-encoding'];
      return encoding === undefined || encoding === 'identity';
    },
    serve(stream, headers, rawHeaders) {
      const method = methodOf(headers);
      if (method) serveCall({ ...deps, stream, method }, headers, rawHeaders);
    },
    expire(stream) {
      const call = startCall(
        { ...deps, stream, method: undefined },
        ids.next(() => undefined),
        {},
      );
      refuse(call, new Fault('request_timeout', 'The request did not arrive in time.'));
    },
  };
}

type Served = CallDeps & { readonly stream: ServerHttp2Stream; readonly method: UnaryMethod };

type Call = {
  readonly stream: ServerHttp2Stream;
  readonly ids: CallIds;
  readonly family: Family;
  caller: CallerKind;
  /** Records the call; to be called when the response is sent. */
  readonly end: (fault: Fault | null) => void;
};

type Starting = Pick<CallDeps, 'callLog'> & { readonly stream: ServerHttp2Stream; readonly method: Method | undefined };

function startCall({ callLog, stream, method }: Starting, ids: CallIds, headers: IncomingHttpHeaders): Call {
  const startedAtMs = callLog.nowMs();
  const route = method?.path ?? null;
  const call: Call = {
    stream,
    ids,
    family: method ? familyOf(method.policy) : 'flat',
    caller: 'none',
    end(fault) {
      const status = fault === null ? 200 : statusOf(fault, call.family);
      const arrival = { socket: socketOf(stream), headers, hasBody: true };
      const about = { transport: 'grpc' as const, method: 'POST', route, path: null, status, fault };
      callLog.ended({ ...about, caller: call.caller, arrival, ids, startedAtMs });
    },
  };
  return call;
}

function serveCall(served: Served, headers: IncomingHttpHeaders, raw: readonly string[]): void {
  const { stream, method, invoke, ids, originOf, responses, reading, runCooperatively } = served;
  const header = firstHeader(headers, raw);
  const call = startCall(served, ids.next(header), headers);
  const timeout = headers['grpc-timeout'];
  const timer = typeof timeout === 'string' ? startDeadline(call, timeout) : null;
  if (timer === 'refused') return;
  const { remoteAddress, isSecure, quota } = originOf({ socket: socketOf(stream), headers, hasBody: true });
  // Called after admission: the credential is checked before the first byte of the message is read.
  const decode = async () => {
    const limits = { sizeMaxBytes: method.sizeMaxBytes, onBytes: quota.receive, reading };
    const bytes = await readGrpcMessage(stream, limits);
    return decodeRequest(method, bytes, runCooperatively);
  };
  const settle = (end: () => void) => {
    if (timer) clearTimeout(timer);
    try {
      end();
    } catch (error) {
      quota.release();
      refuse(call, toFault(error));
    }
  };
  const onCaller = (kind: CallerKind) => {
    call.caller = kind;
  };
  const isDisconnected = () => isFinished(stream);
  invoke(
    method,
    { transport: 'grpc', header, ids: call.ids, remoteAddress, isSecure, quota, isDisconnected, onCaller },
    decode,
  ).then(
    (answered) =>
      settle(() => {
        capInstants(method.desc.output, answered.message);
        const message = toBinary(method.desc.output, answered.message);
        responses.send({ quota, sink: stream, bytes: message.length, force: !method.isRead });
        respond(call, message, answered.headers);
      }),
    (error: unknown) => settle(() => refuse(call, toFault(error))),
  );
}

/** At the deadline the client gets an error; the work itself continues, because a commit does not depend on the connection. */
function startDeadline(call: Call, timeout: string): NodeJS.Timeout | 'refused' {
  const timeoutMs = parseGrpcTimeout(timeout);
  if (timeoutMs === null) {
    refuse(call, new Fault('malformed_request', 'The grpc-timeout header is not a duration.'));
    return 'refused';
  }
  return setTimeout(() => refuse(call, deadlineFault()), timeoutMs);
}

function respond({ stream, ids, end }: Call, message: Uint8Array, headers: UnaryResponse['headers']): void {
  if (isFinished(stream)) return;
  end(null);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  stream.respond(Object.assign(responseHeaders(ids), headers), WAIT_FOR_TRAILERS);
  stream.on('wantTrailers', sendOk);
  stream.end(frame);
}

/** Whether the client has disconnected, or got an error at its deadline. */
export function isFinished(stream: ServerHttp2Stream): boolean {
  return stream.closed || stream.destroyed || stream.headersSent;
}

function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers(TRAILERS_OK);
}

/** A response of trailers only. */
function refuse({ stream, ids, family, end }: Call, fault: Fault): void {
  if (isFinished(stream)) return;
  end(fault);
  endWithHeaders(stream, { ...responseHeaders(ids), ...errorTrailers(fault, family, ids) });
}

/**
 * Ends a response with its first header frame: to a gRPC client, headers that do not end the stream announce a message.
 * Resets the stream where the client is still sending.
 */
export function endWithHeaders(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  stream.respond(headers, END_STREAM);
  if (stream.state.remoteClose === 1) stream.resume();
  else stream.close(constants.NGHTTP2_NO_ERROR);
}

function responseHeaders(ids: CallIds): Record<string, string | number> {
  return addIds({ ':status': 200, 'content-type': CONTENT_TYPE }, ids);
}
