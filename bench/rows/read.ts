import { create, toBinary } from '@bufbuild/protobuf';
import { GetTraceRequestSchema } from '../../gen/spandrel/v1/traces_pb.js';
import type { Bench, Row } from '../bench.ts';
import { type Compared, compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runGrpcLoad } from '../load/grpc.ts';
import { runHttpLoad } from '../load/http.ts';
import type { LoadResult, Stop } from '../load/meter.ts';
import { cycle, getRequest } from '../load/requests.ts';
import type { Template } from '../load/template.ts';
import { createJsonTrace } from '../load/trace.ts';
import type { Program } from '../program.ts';
import { type Keys, mintKeys, startServer } from '../sides.ts';

const spans = 10;
const connections = 16;
const grpcConnections = 4;
const grpcStreams = 4;
const path = '/spandrel.v1.TraceService/GetTrace';

export const restRead: Row = {
  name: 'rest-read',
  about: `a trace of ${spans} spans over REST against the same by the Connect protocol with JSON`,
  run: (bench) =>
    judgeReads(bench, 'rest-read', {
      product: ({ traceId, keys }, port, stop) =>
        runHttp(getRequest(`/api/traces/${traceId}`, `X-Auth-Token: ${keys.projectKey}`), port, stop),
      reference: ({ traceId, keys }, port, stop) => runHttp(connectRequest(traceId, keys), port, stop),
    }),
};

export const grpcRead: Row = {
  name: 'grpc-read',
  about: `a trace of ${spans} spans over unary gRPC against the same gRPC by the Connect router`,
  run: (bench) =>
    judgeReads(bench, 'grpc-read', {
      product: (reading, port, stop) => runGrpc(reading, {}, { port, stop }),
      // This header leads calls to the Connect router, even uncompressed ones.
      reference: (reading, port, stop) => runGrpc(reading, { 'grpc-encoding': 'gzip' }, { port, stop }),
    }),
};

type Reading = { readonly traceId: string; readonly keys: Keys };
type Read = (reading: Reading, port: number, stop: Stop) => Promise<LoadResult>;

async function judgeReads(bench: Bench, name: string, reads: { readonly product: Read; readonly reference: Read }) {
  const { product, reference } = await compareReads(bench, reads);
  const figure = { name, value: product.perSecond, unit: 'requests/s', reference: reference.perSecond };
  // Below this the short path is not worth its code.
  return [judge(figure, { of: 'ratio', atLeast: 1.1 })];
}

/** Uses two servers with the same trace. */
async function compareReads(bench: Bench, reads: { product: Read; reference: Read }): Promise<Compared> {
  const keys = mintKeys();
  const body = Buffer.from(createJsonTrace(spans).createSource(Buffer.alloc(0))());
  const { trace_id: traceId } = JSON.parse(body.toString());
  const referencePorts = new Set<number>();
  const startWithTrace = async (): Promise<Program> => {
    const server = await startServer(bench, keys);
    const { status } = await fetch(`http://127.0.0.1:${server.port}/api/collector`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-token': keys.projectKey },
      body,
    });
    if (status !== 200) throw new Error(`The trace was not stored: ${status}`);
    return server;
  };
  return compare(bench, {
    async startReference() {
      const server = await startWithTrace();
      referencePorts.add(server.port);
      return server;
    },
    startProduct: startWithTrace,
    load: (port, stop) => (referencePorts.has(port) ? reads.reference : reads.product)({ traceId, keys }, port, stop),
  });
}

function runHttp(request: Buffer, port: number, stop: Stop): Promise<LoadResult> {
  return runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests: cycle([request]) });
}

function connectRequest(traceId: string, { projectKey }: Keys): Buffer {
  const body = JSON.stringify({ traceId });
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `X-Auth-Token: ${projectKey}`,
    'Connect-Protocol-Version: 1',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

type Headers = { readonly [name: string]: string };

function runGrpc({ traceId, keys }: Reading, headers: Headers, side: { port: number; stop: Stop }) {
  const { projectKey } = keys;
  const load = { connections: grpcConnections, streams: grpcStreams, path, projectKey, message: messageOf(traceId) };
  return runGrpcLoad({ ...load, ...side, headers });
}

/** A constant message. */
function messageOf(traceId: string): Template {
  const message = toBinary(GetTraceRequestSchema, create(GetTraceRequestSchema, { traceId }));
  return {
    bytes: message.length,
    createSource(head) {
      const frame = Buffer.concat([head, message]);
      return () => frame;
    },
  };
}
