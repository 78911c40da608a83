/**
 * The router of Connect, gRPC-Web and what gRPC the short path leaves. Each rpc goes through the one pipeline;
 * health and reflection answer by themselves; every other path is the fallback's.
 */

import type { DescService, Message } from '@bufbuild/protobuf';
import {
  type ConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type MethodImpl,
  type ServiceImpl,
} from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health } from '../../gen/grpc/health/v1/health_pb.js';
import { ServerReflection, type ServerReflectionRequest } from '../../gen/grpc/reflection/v1/reflection_pb.js';
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js';
import { Fault } from '../domain/fault.ts';
import { type Invoke, toFault } from '../rpc/invoke.ts';
import type { CallIds, Method } from '../rpc/method.ts';
import { type IdSource, traceparentOf } from './call-ids.ts';
import { type PendingCall, startCall } from './connect-call.ts';
import { type ErrorShape, faultsToErrors, rewordLibraryError, shapeKey, toConnectError } from './connect-errors.ts';
import { isRpcRequest, refuseRpc } from './connect-refusal.ts';
import { firstHeader } from './first-header.ts';
import { createGzip } from './gzip.ts';
import { createReflection, type Reflection } from './reflection.ts';
import type { RestRequest, RestResponse } from './rest/exchange.ts';
import type { HttpHandler } from './server.ts';
import { familyOf } from './status.ts';

export type ConnectDeps = {
  readonly methods: readonly Method[];
  readonly invoke: Invoke;
  readonly ids: IdSource;
  /** Serves every path that is no rpc. */
  readonly fallback: (request: RestRequest, response: RestResponse) => void;
  readonly health: ServiceImpl<typeof Health>;
};

/** Largest message to health and reflection, which need no credential. */
const OPEN_MESSAGE_MAX_BYTES = 16_384;

type Request = Parameters<HttpHandler>[0];
type Exchange = {
  readonly request: Request;
  readonly response: Parameters<HttpHandler>[1];
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
};

const exchangeKey = createContextKey<Exchange | null>(null);
const callKey = createContextKey<PendingCall | null>(null);

export function createConnect(deps: ConnectDeps): HttpHandler {
  const { methods, ids, fallback } = deps;
  const byName = new Map(methods.map((method) => [method.path, method]));
  const exchanges = new WeakMap<Request, Exchange>();
  const handlers = new Map<string, ConnectRouter['handlers'][number]>();
  const serve = connectNodeAdapter({
    routes(router) {
      addRoutes(router, deps);
      for (const handler of router.handlers) handlers.set(handler.requestPath, handler);
    },
    acceptCompression: [createGzip()],
    readMaxBytes: OPEN_MESSAGE_MAX_BYTES,
    requestGate: (context) => admit(context, byName.get(`/${context.service.typeName}/${context.method.name}`), deps),
    interceptors: [faultsToErrors],
    contextValues: (request) => createContextValues().set(exchangeKey, exchanges.get(request) ?? null),
  });
  return (request, response) => {
    const handler = handlers.get(request.url?.split('?', 1)[0] ?? '');
    if (!handler && !isRpcRequest(request)) {
      fallback(request as RestRequest, response);
      return;
    }
    const header = firstHeader(request.headers, request.rawHeaders);
    const exchange: Exchange = { request, response, header, ids: ids.next(header) };
    const fault = handler ? problemOf(request, handler) : new Fault('route_not_found', 'There is no such rpc.');
    if (fault) {
      refuseRpc(request, response, { fault, ids: exchange.ids });
    } else {
      exchanges.set(request, exchange);
      serve(request, response);
    }
  };
}

function addRoutes(router: ConnectRouter, { methods, health }: ConnectDeps): void {
  for (const { desc, sizeMaxBytes } of methods) {
    const run = (message: Message, { values, signal }: HandlerContext) => {
      const call = values.get(callKey);
      if (!call) throw new Error('the call was not admitted');
      return call.run(message, signal);
    };
    router.rpc(desc, run, { readMaxBytes: sizeMaxBytes });
  }
  router.service(Health, health);
  const reflect = createReflection([...servicesOf(methods), Health, ServerReflection, ServerReflectionAlpha]);
  const answerAll = (requests: AsyncIterable<ServerReflectionRequest>) => reflectAll(requests, reflect);
  router.service(ServerReflection, { serverReflectionInfo: answerAll });
  // The messages of the older version have other names and the same fields.
  router.service(ServerReflectionAlpha, { serverReflectionInfo: answerAll as unknown as AlphaImpl });
}

type AlphaImpl = MethodImpl<(typeof ServerReflectionAlpha)['method']['serverReflectionInfo']>;

function servicesOf(methods: readonly Method[]): readonly DescService[] {
  return [...new Set(methods.map(({ desc }) => desc.parent))];
}

async function* reflectAll(requests: AsyncIterable<ServerReflectionRequest>, reflect: Reflection) {
  for await (const request of requests) {
    yield { validHost: request.host, originalRequest: request, messageResponse: reflect(request.messageRequest) };
  }
}

/** What keeps the library from serving a request to a path it knows. */
function problemOf(request: Request, handler: ConnectRouter['handlers'][number]): Fault | null {
  if (request.method !== 'POST') {
    return new Fault('method_not_allowed', 'An rpc is called with POST.', { headers: { allow: 'POST' } });
  }
  if (!handler.supportedContentType(request.headers['content-type'] ?? '')) {
    return new Fault('unsupported_encoding', 'The content type belongs to none of gRPC, gRPC-Web and Connect.');
  }
  // The library builds a URL of the authority, and throws out of the request event where it cannot.
  const authority = 'authority' in request ? request.authority : request.headers.host;
  return URL.canParse(`http://${authority ?? ''}/`)
    ? null
    : new Fault('malformed_request', 'The request names no host.');
}

/**
 * Runs before a byte of the message is read. The pipeline starts here and asks for the message once the caller is
 * admitted; until then nothing of the body is buffered or unpacked.
 */
async function admit(context: HandlerContext, method: Method | undefined, { invoke }: ConnectDeps): Promise<void> {
  const exchange = context.values.get(exchangeKey);
  if (!exchange) throw new Error('the request was not announced');
  const { ids, header, request, response } = exchange;
  const shape: ErrorShape = {
    family: method ? familyOf(method.policy) : 'flat',
    ids,
    sizeMaxBytes: method?.sizeMaxBytes ?? OPEN_MESSAGE_MAX_BYTES,
  };
  context.values.set(shapeKey, shape);
  context.responseHeader.set('x-request-id', ids.requestId);
  const traceparent = traceparentOf(ids);
  if (traceparent) context.responseHeader.set('traceparent', traceparent);
  const call = method ? startCall({ invoke, method, header, ids }) : null;
  context.values.set(callKey, call);
  const onAbort = () => {
    rewordLibraryError(context.signal.reason, shape);
    call?.abandon();
    // What is still on its way will not be read.
    if (request.httpVersionMajor === 1 && !request.complete) context.responseHeader.set('connection', 'close');
  };
  if (context.signal.aborted) onAbort();
  else context.signal.addEventListener('abort', onAbort, { once: true });
  try {
    await call?.admitted(context.signal);
  } catch (error) {
    throw toConnectError(toFault(error), shape);
  }
  if (request.headers.expect !== undefined) response.writeContinue();
}
