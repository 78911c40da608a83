/** The whole port (every protocol, real contracts) over a pipeline that a test decides about. */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { create, type DescMethodUnary, getOption, type Message } from '@bufbuild/protobuf';
import { EventService } from '../../gen/spandrel/v1/events_pb.js';
import { ApiKeyService } from '../../gen/spandrel/v1/keys_pb.js';
import { policy } from '../../gen/spandrel/v1/options_pb.js';
import { TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { Fault } from '../../src/domain/fault.ts';
import { type Call, type Invoke, toFault } from '../../src/rpc/invoke.ts';
import type { Method } from '../../src/rpc/method.ts';
import { createIdSource, type IdSource } from '../../src/transport/call-ids.ts';
import { createConnect } from '../../src/transport/connect.ts';
import { createGrpc } from '../../src/transport/grpc.ts';
import { createHealth } from '../../src/transport/health.ts';
import { createBodyWatch } from '../../src/transport/rest/body-watch.ts';
import { createInflateGate } from '../../src/transport/rest/inflate.ts';
import { refusePrematurely } from '../../src/transport/rest/premature.ts';
import { createRest, type RestHandler } from '../../src/transport/rest/rest.ts';
import { type Listening, listen, type ServerLimits } from '../../src/transport/server.ts';

export const SIZE_MAX_BYTES = 1_048_576;
export const INGEST_MAX_BYTES = 10_485_760;
/** What the pipeline of these tests takes for a valid credential. */
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
};

/** The code behind every rpc. */
export type Serve = (method: Method, message: Message) => Promise<object> | object;

export type PortOptions = {
  readonly tls?: boolean;
  readonly limits?: Partial<ServerLimits>;
  readonly serve?: Serve;
  /** Serves what is no rpc; `rest`: the routes of the contract. */
  readonly fallback?: RestHandler | 'rest';
  /** Beside those every answer has. */
  readonly headers?: { readonly [name: string]: string };
};

export type Port = Listening & {
  /** Pipelines that have begun and not ended. */
  readonly inFlight: () => number;
  /** Messages the pipeline asked for, refused callers not counted. */
  readonly decoded: () => number;
  /** What the pipeline was told of the last call. */
  readonly lastCall: () => Call | null;
  readonly setAccepting: (accepting: boolean) => void;
  /** Whether the store works, as far as anybody is told. */
  readonly setReady: (ready: boolean) => void;
};

export const METHODS: readonly Method[] = [TraceService, EventService, ApiKeyService].flatMap(({ methods, typeName }) =>
  methods.map((desc) => ({
    // All of them have unary rpcs only.
    desc: desc as DescMethodUnary,
    path: `/${typeName}/${desc.name}`,
    policy: getOption(desc, policy),
    sizeMaxBytes: desc.name === 'CollectTrace' ? INGEST_MAX_BYTES : SIZE_MAX_BYTES,
    handler: { handle: () => Promise.reject(new Error('the pipeline of the tests has code of its own')) },
  })),
);

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
      if (call.header('authorization') !== GOOD.authorization) {
        throw new Fault('invalid_credentials', 'The credential is not valid.');
      }
      const request = await decode();
      counts.decoded += 1;
      if (request.kind !== 'message') throw new Error('only messages come this way');
      return { message: create(method.desc.output, await serve(method, request.message)), headers };
    } catch (error) {
      throw toFault(error);
    } finally {
      counts.inFlight -= 1;
    }
  };
  const ids = createIdSource(randomBytes, true);
  const rest = fallback === 'rest' ? createRestRoutes(invoke, ids) : fallback;
  const health = createHealth({
    methods: METHODS,
    accepting: () => accepting,
    ready: async () => {
      if (!ready) throw new Error('the store is away');
    },
    monotonicMs: () => performance.now(),
  });
  const listening = await listen(
    { host: '127.0.0.1', port: 0, tls: tls ? TLS : null, limits: { ...LIMITS, ...limits } },
    {
      http: createConnect({ methods: METHODS, invoke, ids, health, fallback: rest }),
      grpc: createGrpc(METHODS, invoke, ids),
      refuse: (problem) => refusePrematurely(problem, ids),
    },
  );
  return {
    ...listening,
    inFlight: () => counts.inFlight,
    decoded: () => counts.decoded,
    lastCall: () => lastCall,
    setAccepting(value) {
      accepting = value;
    },
    setReady(value) {
      ready = value;
    },
  };
}

function createRestRoutes(invoke: Invoke, ids: IdSource): RestHandler {
  return createRest({
    methods: METHODS,
    invoke,
    ids,
    watch: createBodyWatch({ gapMs: 10_000, wholeMs: 60_000 }, () => performance.now()),
    inflate: createInflateGate(),
    pages: new Map(),
    requestLineMaxBytes: LIMITS.requestLineBytesMax,
    headersMaxBytes: LIMITS.headerBytesMax,
  });
}

/** Says over which protocol the request came, once its body is in. */
const echo: RestHandler = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => response.end(JSON.stringify({ http: request.httpVersion, path: request.url, bytes })));
  if (request.headers.expect !== undefined) response.writeContinue();
};

/** Waits for a condition instead of a time. */
export async function until(holds: () => boolean, what: string, deadlineMs = 10_000): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
