import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { performance } from 'node:perf_hooks';
import { createMeter, type LoadResult, type Meter, type Stop, withinDeadline } from './meter.ts';
import type { Template } from './template.ts';

export type GrpcLoad = {
  readonly port: number;
  readonly connections: number;
  /** Calls in progress on each connection. */
  readonly streams: number;
  readonly stop: Stop;
  readonly path: string;
  readonly projectKey: string;
  readonly message: Template;
  /** Additional headers. */
  readonly headers?: { readonly [name: string]: string };
};

// An uncompressed gRPC message: a zero byte, then the length of what follows.
const frameHeadBytes = 5;

/**
 * Sends unary calls over plain HTTP/2; each stream slot waits for its answer before the next call. A gRPC client
 * library costs more than the servers measured here, so frames are prebuilt. Rejects at the first failed call.
 */
export async function runGrpcLoad(load: GrpcLoad): Promise<LoadResult> {
  const sessions: ClientHttp2Session[] = [];
  const work = async (): Promise<LoadResult> => {
    const connected = Array.from({ length: load.connections }, () => openSession(load.port, sessions));
    const opened = await Promise.all(connected);
    const meter = createMeter(load.stop);
    const slots = opened.flatMap((session) =>
      Array.from({ length: load.streams }, () => runSlot({ session, load, meter })),
    );
    const bodies = await Promise.all(slots);
    return meter.result(bodies[0] ?? Buffer.alloc(0));
  };
  return withinDeadline(load.stop, work(), () => {
    for (const session of sessions) session.destroy();
  });
}

function openSession(port: number, sessions: ClientHttp2Session[]): Promise<ClientHttp2Session> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientHttp2Session>();
  const session = connect(`http://127.0.0.1:${port}`);
  sessions.push(session);
  session.on('connect', () => resolve(session));
  // After the connect, the streams report errors of the session.
  session.on('error', reject);
  return promise;
}

type Slot = { readonly session: ClientHttp2Session; readonly load: GrpcLoad; readonly meter: Meter };

function runSlot({ session, load, meter }: Slot): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt32BE(load.message.bytes, 1);
  const next = load.message.createSource(head);
  const headers = {
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: load.path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-auth-token': load.projectKey,
    ...load.headers,
  };
  let firstBody: Buffer | null = null;

  const send = (): void => {
    if (!meter.take()) {
      resolve(firstBody ?? Buffer.alloc(0));
      return;
    }
    const sentAt = performance.now();
    const stream = session.request(headers);
    observe(stream, (failure, body) => {
      if (failure !== null) {
        reject(new Error(failure));
        return;
      }
      meter.note(sentAt);
      firstBody ??= body;
      send();
    });
    stream.end(next());
  };
  send();
  return promise;
}

/** Calls `done` once the stream has closed: with the failure, or with the answer. */
function observe(stream: ClientHttp2Stream, done: (failure: string | null, body: Buffer) => void): void {
  let failure: string | null = null;
  let grpcStatus: string | undefined;
  let body: Buffer = Buffer.alloc(0);
  stream.on('response', (headers) => {
    if (headers[':status'] !== 200) failure = `Expected HTTP status 200, got ${headers[':status']}.`;
    else if (headers['grpc-status'] !== undefined) failure = describeStatus(headers);
  });
  stream.on('data', (chunk: Buffer) => {
    body = body.length === 0 ? chunk : Buffer.concat([body, chunk]);
  });
  stream.on('trailers', (trailers) => {
    grpcStatus = trailers['grpc-status']?.toString();
    if (grpcStatus !== '0') failure = describeStatus(trailers);
  });
  stream.on('error', (error) => {
    failure ??= error.message;
  });
  stream.on('close', () => {
    if (failure === null && grpcStatus === undefined) failure = 'The server closed a call without a status.';
    done(failure, body.subarray(frameHeadBytes));
  });
}

function describeStatus(headers: NodeJS.Dict<string | string[] | number>): string {
  return `Expected gRPC status 0, got ${headers['grpc-status']}: ${headers['grpc-message'] ?? ''}`;
}
