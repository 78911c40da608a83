/**
 * The router of Connect, gRPC-Web and the gRPC calls that the short path does not serve. Each rpc goes through the
 * pipeline; health and reflection do not; every other path goes to the fallback.
 */

import type { DescService, Message } from '@bufbuild/protobuf';
import {
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
  type HandlerContext,
  type MethodImpl,
  type ServiceImpl,
} from '@connectrpc/connect';
import { Health } from '../../gen/grpc/health/v1/health_pb.js';
import { ServerReflection } from '../../gen/grpc/reflection/v1/reflection_pb.js';
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js';
import { Fault } from '../domain/fault.ts';
import type { Method } from '../rpc/method.ts';
import { capDeadline } from './call-deadline.ts';
import { admit, callKey, findRefusal, streamKey } from './connect-admission.ts';
import { faultsToErrors } from './connect-errors.ts';
import { createExchangeReport, type Exchange, exchangeKey } from './connect-exchange.ts';
import { requestKey } from './connect-json.ts';
import { refuseRpc, respondWithMethods } from './connect-refusal.ts';
import { countBody, isAbandoned, runExchange } from './connect-serve.ts';
import { firstHeader } from './first-header.ts';
import type { CallDeps } from './grpc.ts';
import { createGzip } from './gzip.ts';
import { limitStreams, REFLECTION_SHARES, WATCH_SHARES } from './open-streams.ts';
import { arrivalOf } from './origin.ts';
import { answerRequests, createReflection } from './reflection.ts';
import type { RestRequest, RestResponse } from './rest/exchange.ts';
import { explainMissing, GATEWAY_ALONE } from './rest/unserved.ts';
import { capInstants } from './rpc-instants.ts';
import { isRpcRequest } from './rpc-request.ts';
import type { HttpHandler } from './server-options.ts';
import { createYieldToEventLoop } from './yield-to-event-loop.ts';

export type ConnectDeps = CallDeps & {
  /** Serves every path that is not an rpc. */
  readonly fallback: (request: RestRequest, response: RestResponse) => void;
  readonly health: ServiceImpl<typeof Health>;
};

/** Largest message to health and reflection, which need no credential. Their messages hold no more than a name. */
const OPEN_MESSAGE_MAX_BYTES = 2_048;
/**
 * For responses with secrets, because a compressed size reveals a secret that stands beside text of the caller's own
 * (BREACH); and for rpcs without a credential, because compression costs work.
 */
const NEVER_COMPRESSED = { compressMinBytes: Number.MAX_SAFE_INTEGER };
const REFUSING_UNKNOWN = { jsonOptions: { ignoreUnknownFields: false } };

export function createConnect(deps: ConnectDeps): HttpHandler {
  const { methods, ids, originOf, responses, reading, runCooperatively, fallback } = deps;
  const byName = new Map(methods.map((method) => [method.path, method]));
  const router = createConnectRouter({
    acceptCompression: [createGzip({ onUnpacking: countBody, isAbandoned })],
    readMaxBytes: OPEN_MESSAGE_MAX_BYTES,
    requestGate(context) {
      const method = byName.get(`/${context.service.typeName}/${context.method.name}`);
      const sizeMaxBytes = method?.sizeMaxBytes ?? OPEN_MESSAGE_MAX_BYTES;
      return admit(context, { method, sizeMaxBytes, invoke: deps.invoke, invokeStream: deps.invokeStream });
    },
    interceptors: [faultsToErrors],
  });
  addRoutes(router, deps);
  const yieldToEventLoop = createYieldToEventLoop();
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const handler = handlers.get(path);
    if (!handler && (request.method === 'OPTIONS' || !isRpcRequest(request))) {
      fallback(request as RestRequest, response);
      return;
    }
    const header = firstHeader(request.headers, request.rawHeaders);
    const call = { request, ids: ids.next(header), method: byName.get(path) };
    const exchange: Exchange = {
      ...call,
      response,
      header,
      origin: originOf(arrivalOf(request, true)),
      bodyEnd: Promise.withResolvers(),
      report: createExchangeReport(deps.callLog, { ...call, isKnown: !!handler }),
    };
    if (!handler) {
      const missing = methods.length === 0 ? GATEWAY_ALONE : explainMissing(path, 'There is no such rpc.');
      refuseRpc(exchange, new Fault('route_not_found', missing));
      return;
    }
    if (request.method === 'OPTIONS') {
      respondWithMethods(exchange, handler);
      return;
    }
    const refusal = findRefusal(request, handler);
    if (refusal) {
      refuseRpc(exchange, refusal);
      return;
    }
    capDeadline(request);
    const values = createContextValues().set(exchangeKey, exchange);
    void runExchange(handler, exchange, { values, responses, reading, yieldToEventLoop, runCooperatively });
  };
}

function addRoutes(router: ConnectRouter, { methods, health }: ConnectDeps): void {
  for (const method of methods) {
    const { sizeMaxBytes, policy } = method;
    const reading = { readMaxBytes: sizeMaxBytes, ...(policy.refuseUnknown ? REFUSING_UNKNOWN : {}) };
    if (method.kind === 'stream') {
      router.rpc(method.desc, streamResponses, { ...reading, ...NEVER_COMPRESSED });
      continue;
    }
    const run = async (message: Message, { values, signal, responseHeader }: HandlerContext) => {
      const call = values.get(callKey);
      if (!call) throw new Error('the call was not admitted');
      const answered = await call.run(values.get(requestKey) ?? { kind: 'message', message }, signal);
      for (const [name, value] of Object.entries(answered.headers)) responseHeader.set(name, value);
      capInstants(method.desc.output, answered.message);
      return answered.message;
    };
    router.rpc(method.desc, run, { ...reading, ...(policy.secret ? NEVER_COMPRESSED : {}) });
  }
  router.service(Health, { ...health, watch: limitStreams(health.watch, 'watches', WATCH_SHARES) });
  const reflect = createReflection([...servicesOf(methods), Health, ServerReflection, ServerReflectionAlpha]);
  const serveReflection = limitStreams(answerRequests.bind(null, reflect), 'streams of reflection', REFLECTION_SHARES);
  router.service(ServerReflection, { serverReflectionInfo: serveReflection }, NEVER_COMPRESSED);
  // The messages of v1alpha have other type names and the same fields.
  router.service(
    ServerReflectionAlpha,
    { serverReflectionInfo: serveReflection as unknown as AlphaImpl },
    NEVER_COMPRESSED,
  );
}

async function* streamResponses(message: Message, { values, signal }: HandlerContext): AsyncGenerator<Message> {
  const call = values.get(streamKey);
  if (!call) throw new Error('the call was not admitted');
  const stream = await call.run(values.get(requestKey) ?? { kind: 'message', message }, signal);
  try {
    yield* stream;
  } finally {
    stream.close();
  }
}

type AlphaImpl = MethodImpl<(typeof ServerReflectionAlpha)['method']['serverReflectionInfo']>;

function servicesOf(methods: readonly Method[]): readonly DescService[] {
  return [...new Set(methods.map(({ desc }) => desc.parent))];
}
