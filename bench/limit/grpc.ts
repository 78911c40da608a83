/**
 * The limit program of ingest-grpc: @grpc/grpc-js, protobuf-es, one durable indexed row per trace.
 * Usage: node grpc.ts <database file>
 */

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServiceDefinition, type UntypedHandleCall } from '@grpc/grpc-js';
import {
  type CollectTraceRequest,
  CollectTraceRequestSchema,
  type CollectTraceResponse,
  CollectTraceResponseSchema,
} from '../../gen/spandrel/v1/traces_pb.js';
import { createCommitter } from './committer.ts';
import { endWithParent, sayReady } from './ready.ts';

type Received = { trace: CollectTraceRequest; bytes: Buffer };
type Call = { request: Received };
type Reply = (error: null, response: CollectTraceResponse) => void;

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('Usage: node grpc.ts <database file>');
const committer = createCommitter(path);
const answer = create(CollectTraceResponseSchema, { partialSuccess: {} });

const service: ServiceDefinition = {
  collectTrace: {
    path: '/spandrel.v1.TraceService/CollectTrace',
    requestStream: false,
    responseStream: false,
    // The row keeps the received bytes, which saves encoding the message again.
    requestDeserialize: (bytes: Buffer): Received => ({ trace: fromBinary(CollectTraceRequestSchema, bytes), bytes }),
    responseSerialize: (response: CollectTraceResponse) => Buffer.from(toBinary(CollectTraceResponseSchema, response)),
    requestSerialize: unused,
    responseDeserialize: unused,
  },
};

function unused(): never {
  throw new Error('Only a client needs this direction.');
}

function collectTrace({ request }: Call, reply: Reply): void {
  committer.add([{ id: request.trace.traceId, body: request.bytes }], () => reply(null, answer));
}

const server = new Server();
server.addService(service, { collectTrace: collectTrace as UntypedHandleCall });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  sayReady(port);
});
endWithParent();
