import { fromBinary } from '@bufbuild/protobuf';
import { ExportTraceServiceResponseSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { Bench, Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { type Figure, judge } from '../figure.ts';
import { runGrpcLoad } from '../load/grpc.ts';
import { runHttpLoad } from '../load/http.ts';
import { createJsonExport, createProtobufExport } from '../load/otlp.ts';
import { postRequests } from '../load/requests.ts';
import { mintKeys, startLimit, startServer } from '../sides.ts';

const spans = 100;
const httpConnections = 64;
const grpcConnections = 4;
const grpcStreams = 16;

export const otlpHttp: Row = {
  name: 'otlp-http',
  about: `OTLP exports of ${spans} spans over HTTP/1.1 against a bare decoder + one durable row per span`,
  async run(bench) {
    return [await compareHttp(bench, 'otlp-http', true), await compareHttp(bench, 'otlp-http-json', false)];
  },
};

export const otlpGrpc: Row = {
  name: 'otlp-grpc',
  about: `OTLP exports of ${spans} spans over gRPC against @grpc/grpc-js + a bare decoder + one durable row per span`,
  async run(bench) {
    const message = createProtobufExport(spans);
    const keys = mintKeys();
    const { product, reference } = await compare(bench, {
      startReference: () => startLimit('otlp', ['grpc']),
      startProduct: () => startServer(bench, keys),
      load: (port, stop) =>
        runGrpcLoad({
          port,
          connections: grpcConnections,
          streams: grpcStreams,
          stop,
          path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
          projectKey: keys.projectKey,
          message,
        }),
      checkProduct: checkProtobuf,
    });
    return [judgeSpans('otlp-grpc', product.perSecond, reference.perSecond)];
  },
};

async function compareHttp(bench: Bench, name: string, isProtobuf: boolean): Promise<Figure> {
  const keys = mintKeys();
  const createRequests = postRequests(isProtobuf ? createProtobufExport(spans) : createJsonExport(spans), {
    path: '/api/otel/v1/traces',
    mediaType: isProtobuf ? 'application/x-protobuf' : 'application/json',
    projectKey: keys.projectKey,
  });
  const { product, reference } = await compare(bench, {
    startReference: () => startLimit('otlp', ['http']),
    startProduct: () => startServer(bench, keys),
    load: (port, stop) =>
      runHttpLoad({ ports: [port], connections: httpConnections, stop, expectedStatus: 200, createRequests }),
    checkProduct: isProtobuf ? checkProtobuf : checkJson,
  });
  return judgeSpans(name, product.perSecond, reference.perSecond);
}

function judgeSpans(name: string, perSecond: number, reference: number): Figure {
  const figure = { name, value: perSecond * spans, unit: 'spans/s', reference: reference * spans };
  return judge(figure, { of: 'ratio', atLeast: 0.5 });
}

/** A successful call may include refused spans, which must not count. */
function checkProtobuf(body: Buffer): void {
  const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, body);
  if (partialSuccess) throw new Error(`The spans were not stored whole: ${partialSuccess.errorMessage}`);
}

function checkJson(body: Buffer): void {
  if (body.toString() !== '{}') throw new Error(`The spans were not stored whole: ${body}`);
}
