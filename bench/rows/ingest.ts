import { fromBinary } from '@bufbuild/protobuf';
import { CollectTraceResponseSchema } from '../../gen/spandrel/v1/traces_pb.js';
import type { Bench, Row } from '../bench.ts';
import { type Compared, compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runGrpcLoad } from '../load/grpc.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import type { Template } from '../load/template.ts';
import { createJsonTrace, createProtoTrace } from '../load/trace.ts';
import { mintKeys, startLimit, startServer } from '../sides.ts';

const httpConnections = 64;
const grpcConnections = 4;
const grpcStreams = 16;
const batchSpans = 100;

export const ingestJson: Row = {
  name: 'ingest-json',
  about: 'one-span traces over HTTP/1.1 against node:http + JSON.parse + one durable row',
  async run(bench) {
    const { product, reference } = await compareCollectors(bench, createJsonTrace(1), 'trace');
    return [
      judge(
        { name: 'ingest-json', value: product.perSecond, unit: 'requests/s', reference: reference.perSecond },
        { of: 'ratio', atLeast: 0.6 },
      ),
      judge(
        { name: 'ingest-json-p99', value: product.p99Ms, unit: 'ms', reference: reference.p99Ms },
        { of: 'ratio', atMost: 2 },
      ),
    ];
  },
};

export const ingestBatch: Row = {
  name: 'ingest-batch',
  about: `traces of ${batchSpans} spans over HTTP/1.1 against the same program with one durable row per span`,
  async run(bench) {
    const { product, reference } = await compareCollectors(bench, createJsonTrace(batchSpans), 'span');
    const value = product.perSecond * batchSpans;
    const unit = 'spans/s';
    return [
      judge(
        { name: 'ingest-batch', value, unit, reference: reference.perSecond * batchSpans },
        { of: 'ratio', atLeast: 0.5 },
      ),
      judge({ name: 'ingest-batch-rate', value, unit, reference: null }, { of: 'value', atLeast: 10_000 }),
    ];
  },
};

export const ingestGrpc: Row = {
  name: 'ingest-grpc',
  about: 'one-span traces over unary gRPC against @grpc/grpc-js + protobuf-es + one durable row',
  async run(bench) {
    const message = createProtoTrace();
    const keys = mintKeys();
    const { product, reference } = await compare(bench, {
      startReference: () => startLimit('grpc', []),
      startProduct: () => startServer(bench, keys),
      load: (port, stop) =>
        runGrpcLoad({
          port,
          connections: grpcConnections,
          streams: grpcStreams,
          stop,
          path: '/spandrel.v1.TraceService/CollectTrace',
          projectKey: keys.projectKey,
          message,
        }),
      checkProduct(body) {
        const { partialSuccess } = fromBinary(CollectTraceResponseSchema, body);
        if (partialSuccess?.errorMessage)
          throw new Error(`The trace was not stored whole: ${partialSuccess.errorMessage}`);
      },
    });
    return [
      judge(
        { name: 'ingest-grpc', value: product.perSecond, unit: 'requests/s', reference: reference.perSecond },
        { of: 'ratio', atLeast: 0.7 },
      ),
    ];
  },
};

function compareCollectors(bench: Bench, trace: Template, mode: 'trace' | 'span'): Promise<Compared> {
  const keys = mintKeys();
  const createRequests = collectorRequests(trace, keys.projectKey);
  return compare(bench, {
    startReference: () => startLimit('http', [mode]),
    startProduct: () => startServer(bench, keys),
    load: (port, stop) =>
      runHttpLoad({ ports: [port], connections: httpConnections, stop, expectedStatus: 200, createRequests }),
    checkProduct: checkStored,
  });
}

/** HTTP 200 may include refused spans, which must not count. */
export function checkStored(body: Buffer): void {
  const answer: { partialSuccess?: { rejectedSpans?: number } } = JSON.parse(body.toString('utf8'));
  if (answer.partialSuccess?.rejectedSpans !== 0) throw new Error(`The trace was not stored whole: ${body}`);
}
