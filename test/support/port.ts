/** The whole port (every protocol, real contracts) over a pipeline that a test supplies. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { create, type DescMethod, type DescMethodUnary, getOption, type Message } from '@bufbuild/protobuf';
import { http } from '../../gen/google/api/annotations_pb.js';
import { EventService } from '../../gen/spandrel/v1/events_pb.js';
import { ApiKeyService } from '../../gen/spandrel/v1/keys_pb.js';
import { policy } from '../../gen/spandrel/v1/options_pb.js';
import { TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { Fault } from '../../src/domain/fault.ts';
import { createCooperativeRunner } from '../../src/domain/steps.ts';
import { type Call, type Invoke, toFault } from '../../src/rpc/invoke.ts';
import type { Method } from '../../src/rpc/method.ts';
import { type Amounts, createQuotas } from '../../src/rpc/quotas.ts';
import { createIdSource } from '../../src/transport/call-ids.ts';
import { createConnect } from '../../src/transport/connect.ts';
import { type CallDeps, createGrpc } from '../../src/transport/grpc.ts';
import { createHealth } from '../../src/transport/health.ts';
import { createCallerOf, createOriginOf } from '../../src/transport/origin.ts';
import { createReadBudget } from '../../src/transport/read-budget.ts';
import { createResponseWatch, type ResponseTimeouts } from '../../src/transport/response-watch.ts';
import { createBodyWatch } from '../../src/transport/rest/body-watch.ts';
import { refuseEarly } from '../../src/transport/rest/early-refusal.ts';
import { createBoundedInflate } from '../../src/transport/rest/inflate.ts';
import { createRest, type RestDeps, type RestHandler } from '../../src/transport/rest/rest.ts';
import { compileRoutes } from '../../src/transport/rest/routes.ts';
import { type Listening, listen } from '../../src/transport/server.ts';
import type { ConnectionMeter, ServerLimits } from '../../src/transport/server-options.ts';
import { createYieldToEventLoop } from '../../src/transport/yield-to-event-loop.ts';

export const SIZE_MAX_BYTES = 1_048_576;
export const INGEST_MAX_BYTES = 10_485_760;
/** The headers with the only valid credential. */
export const GOOD = { authorization: 'Bearer good' };

const tlsFile = (name: string) => readFileSync(new URL(`./tls/${name}`, import.meta.url), 'utf8');
export const TLS = { cert: tlsFile('localhost.crt'), key: tlsFile('localhost.key') };

const LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  bodyGapTimeoutMs: 10_000,
  bodyTimeoutMs: 60_000,
  idleTimeoutMs: 75_000,
  streamsPerConnectionMax: 128,
  headerBytesMax: 16_384,
  requestLineBytesMax: 8_192,
  connectionsMax: 10_000,
  reconnectPenaltyMs: 0,
};

const QUOTAS: Amounts = {
  arriving: 4_096,
  inFlight: 4_096,
  bodyBytes: 256 * 1_048_576,
  responseBytes: 256 * 1_048_576,
};
const ANSWER_TIMES: ResponseTimeouts = { graceMs: 60_000, bytesPerSecondMin: 1_048_576 };

/** The handler of every rpc. */
export type Serve = (method: Method, message: Message) => Promise<object> | object;

export type PortOptions = {
  readonly tls?: boolean;
  readonly limits?: Partial<ServerLimits>;
  readonly serve?: Serve;
  readonly quotas?: Partial<Amounts>;
  readonly answerTimes?: ResponseTimeouts;
  /** Serves other requests; `rest`: the contract's routes. */
  readonly fallback?: RestHandler | 'rest';
  /** Additional headers of every answer. */
  readonly headers?: { readonly [name: string]: string };
  readonly yieldToEventLoop?: () => Promise<void>;
  /** Runs with the address before the port serves requests. */
  readonly beforeServing?: (address: string) => Promise<void>;
};

export type Port = Listening & {
  /** The number of running pipelines. */
  readonly inFlight: () => number;
  /** The number of decoded messages. */
  readonly decoded: () => number;
  /** The last call passed to the pipeline. */
  readonly lastCall: () => Call | null;
  /** Held by requests now. */
  readonly held: () => Readonly<Amounts>;
  /** Cut sessions by reason, and the connections refused after that. */
  readonly counted: () => { readonly headers: number; readonly resets: number; readonly refused: number };
  readonly setAccepting: (accepting: boolean) => void;
  /** Sets the readiness of the store. */
  readonly setReady: (ready: boolean) => void;
};

export const METHODS: readonly Method[] = [TraceService, EventService, ApiKeyService].flatMap(({ methods, typeName }) =>
  methods.filter(isUnary).map((desc) => ({
    kind: 'unary' as const,
    desc,
    path: `/${typeName}/${desc.name}`,
    policy: getOption(desc, policy),
    isRead: getOption(desc, http).pattern.case === 'get',
    sizeMaxBytes: desc.name === 'CollectTrace' ? INGEST_MAX_BYTES : SIZE_MAX_BYTES,
    handler: { handle: () => Promise.reject(new Error('the pipeline of the tests has code of its own')) },
  })),
);

function isUnary(desc: DescMethod): desc is DescMethodUnary {
  return desc.methodKind === 'unary';
}

export async function startPort(options: PortOptions = {}): Promise<Port> {
  const { tls = false, limits = {}, serve = () => ({}), fallback = echo, headers = {} } = options;
  const counts = { inFlight: 0, decoded: 0 };
  let lastCall: Call | null = null;
  let accepting = true;
  let ready = true;
  const invoke: Invoke = async (method, call, decode) => {
    counts.inFlight += 1;
    lastCall = call;
    try {
      call.quota.begin();
      if (call.header('authorization') !== GOOD.authorization) {
        throw new Fault('invalid_credentials', 'The credential is not valid.');
      }
      call.quota.identify('good');
      const request = await decode();
      call.quota.start();
      counts.decoded += 1;
      if (request.kind !== 'message') throw new Error('only messages come this way');
      return { message: create(method.desc.output, await serve(method, request.message)), headers };
    } catch (error) {
      call.quota.release();
      throw toFault(error);
    } finally {
      call.quota.finish();
      counts.inFlight -= 1;
    }
  };
  const { quotas, ...parts } = createCallParts(options);
  const calls = { ...parts, methods: METHODS, invoke };
  const rest = fallback === 'rest' ? createRestRoutes(calls) : fallback;
  const health = createHealth({
    methods: METHODS,
    accepting: () => accepting,
    ready: async () => {
      if (!ready) throw new Error('the store is away');
    },
    monotonicMs: () => performance.now(),
  });
  const counted = { headers: 0, resets: 0, refused: 0 };
  const meter: ConnectionMeter = {
    sessionCut(reason) {
      counted[reason] += 1;
    },
    connectionRefused() {
      counted.refused += 1;
    },
  };
  const port = options.beforeServing ? await findFreePort() : 0;
  const beforeServing = () => options.beforeServing?.(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`);
  const listening = await listen(
    {
      host: '127.0.0.1',
      port,
      beforeServing: async () => beforeServing(),
      tls: tls ? TLS : null,
      limits: { ...LIMITS, ...limits },
      meter,
      callerOf: createCallerOf([]),
    },
    {
      http: createConnect({ ...calls, health, fallback: rest }),
      grpc: createGrpc(calls),
      refuse: (end, socket) => refuseEarly(end, { ...parts, socket }),
    },
  );
  return {
    ...listening,
    inFlight: () => counts.inFlight,
    decoded: () => counts.decoded,
    held: quotas.held,
    lastCall: () => lastCall,
    counted: () => ({ ...counted }),
    setAccepting(value) {
      accepting = value;
    },
    setReady(value) {
      ready = value;
    },
  };
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Dependencies of transports beside the pipeline. */
export function createCallParts(options: PortOptions = {}) {
  const { quotas: limits, answerTimes = ANSWER_TIMES, yieldToEventLoop = createYieldToEventLoop() } = options;
  const quotas = createQuotas({ ...QUOTAS, ...limits });
  return {
    quotas,
    ids: createIdSource(randomBytes, true),
    originOf: createOriginOf({ quotas, trustedProxies: [], publicOrigin: null }),
    responses: createResponseWatch(answerTimes, () => performance.now()),
    reading: createReadBudget({ bytesPerTurn: 65_536 }),
    yieldToEventLoop,
    runCooperatively: createCooperativeRunner({ yieldToEventLoop, nowMs: () => performance.now() }),
    // Tests of streams use the whole server.
    invokeStream: () => Promise.reject(new Error('nothing streams here')),
    callLog: { nowMs: () => performance.now(), ended: () => {}, stop: () => {} },
  };
}

function createRestRoutes(calls: CallDeps & Pick<RestDeps, 'yieldToEventLoop'>): RestHandler {
  return createRest({
    ...calls,
    watch: createBodyWatch({ gapMs: 10_000, wholeMs: 60_000 }, () => performance.now()),
    inflate: createBoundedInflate(),
    pages: { find: () => null },
    routes: compileRoutes(calls.methods),
    requestLineMaxBytes: LIMITS.requestLineBytesMax,
    headersMaxBytes: LIMITS.headerBytesMax,
  });
}

/** Answers with the HTTP version, path and body size of the request. */
const echo: RestHandler = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => response.end(JSON.stringify({ http: request.httpVersion, path: request.url, bytes })));
  if (request.headers.expect !== undefined) response.writeContinue();
};

/** Waits for a condition; may time out. */
export async function until(holds: () => boolean, what: string, deadlineMs = 10_000): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
