/**
 * The limit program of otlp-http and otlp-grpc: node:http or @grpc/grpc-js, a bare decoder of the encoding, one durable
 * indexed row per span, and nothing else. Usage: node otlp.ts <database file> http|grpc
 */

import { createServer } from 'node:http';
import { fromBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type UntypedHandleCall } from '@grpc/grpc-js';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { createCommitter } from './committer.ts';
import { endWithParent, sayReady } from './ready.ts';

type JsonExport = { resourceSpans: { scopeSpans: { spans: { traceId: string; spanId: string }[] }[] }[] };

const [path, transport] = process.argv.slice(2);
if (path === undefined || (transport !== 'http' && transport !== 'grpc')) {
  throw new Error('Usage: node otlp.ts <database file> http|grpc');
}
const committer = createCommitter(path);

function collect(bytes: Buffer, isJson: boolean, done: () => void): void {
  const ids = isJson ? jsonIds(bytes) : protobufIds(bytes);
  // Each row keeps an equal share of the received bytes, which saves encoding spans again.
  const share = Math.floor(bytes.length / ids.length);
  const rows = ids.map((id, index) => ({ id, body: bytes.subarray(index * share, (index + 1) * share) }));
  committer.add(rows, done);
}

/** A span id alone is not unique: the generator writes it with eight hex digits. */
function protobufIds(bytes: Buffer): string[] {
  const { resourceSpans } = fromBinary(ExportTraceServiceRequestSchema, bytes);
  return resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId }) => Buffer.concat([traceId, spanId]).toString('hex')),
    ),
  );
}

function jsonIds(bytes: Buffer): string[] {
  const { resourceSpans }: JsonExport = JSON.parse(bytes.toString('utf8'));
  return resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map(({ traceId, spanId }) => traceId + spanId)),
  );
}

function serveHttp(): void {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const isJson = request.headers['content-type'] === 'application/json';
    const answer = Buffer.from(isJson ? '{}' : '');
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () =>
      collect(Buffer.concat(chunks), isJson, () => {
        response.writeHead(200, { 'content-type': request.headers['content-type'], 'content-length': answer.length });
        response.end(answer);
      }),
    );
  });
  server.listen(0, '127.0.0.1', () => sayReady(server.address()));
}

function serveGrpc(): void {
  const pass = (bytes: Buffer) => bytes;
  const server = new Server();
  const answer = Buffer.alloc(0);
  const receive = (call: { request: Buffer }, reply: (error: null, answer: Buffer) => void) =>
    collect(call.request, false, () => reply(null, answer));
  const definition = {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  };
  server.addService({ export: definition }, { export: receive as UntypedHandleCall });
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    sayReady(port);
  });
}

if (transport === 'http') serveHttp();
else serveGrpc();
endWithParent();
