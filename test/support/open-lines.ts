/** Persistent connections to one process, one for each protocol. */

import { Agent, request } from 'node:http';
import { connect } from 'node:http2';
import { create, type DescMethodUnary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { EventService } from '../../gen/spandrel/v1/events_pb.js';
import { TraceService } from '../../gen/spandrel/v1/traces_pb.js';

/** The kind of the request: of an organization, or of a project. */
export type CredentialClass = 'organization' | 'project';

export type Line = {
  readonly name: string;
  /** Sends a request; resolves to the HTTP status, mapped from gRPC's. */
  ask(credentialClass: CredentialClass, token: string): Promise<number>;
  /** The number of connections opened so far. */
  connections(): number;
  close(): void;
};

const PATHS = { organization: '/api/webhooks/v1/events?from=0&to=1', project: '/api/traces/none' };

export function openLines(address: string): readonly Line[] {
  return [openHttp1(address), openHttp2(address), openGrpc(address)];
}

export function openHttp1(address: string): Line {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let connections = 0;
  return {
    name: 'HTTP/1.1',
    ask: (credentialClass, token) =>
      new Promise((resolve, reject) => {
        const sent = request(address + PATHS[credentialClass], {
          agent,
          headers: { authorization: `Bearer ${token}` },
        });
        sent.on('response', (response) => {
          if (!sent.reusedSocket) connections += 1;
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
        });
        sent.on('error', reject);
        sent.end();
      }),
    connections: () => connections,
    close: () => agent.destroy(),
  };
}

function openHttp2(address: string): Line {
  const session = connect(address);
  // The request reports the end of the session.
  session.on('error', () => undefined);
  return {
    name: 'HTTP/2',
    ask: (credentialClass, token) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': PATHS[credentialClass], authorization: `Bearer ${token}` });
        stream.on('response', (headers) => resolve(headers[':status'] ?? 0));
        stream.on('error', reject);
        stream.resume();
      }),
    // A session is one connection.
    connections: () => 1,
    close: () => session.destroy(),
  };
}

const STATUS_OF_CODE: { readonly [code: number]: number } = { 5: 404, 7: 403, 14: 503, 16: 401 };

function openGrpc(address: string): Line {
  const client = new Client(new URL(address).host, credentials.createInsecure());
  const { listEvents } = EventService.method;
  const { getTrace } = TraceService.method;
  return {
    name: 'gRPC',
    ask: (credentialClass, token) =>
      credentialClass === 'organization'
        ? callGrpc(client, {
            token,
            method: listEvents,
            request: { createdFrom: { seconds: 0n }, createdTo: { seconds: 1n } },
          })
        : callGrpc(client, { token, method: getTrace, request: { traceId: 'none' } }),
    connections: () => 1,
    close: () => client.close(),
  };
}

type GrpcQuestion<M extends DescMethodUnary> = {
  readonly token: string;
  readonly method: M;
  readonly request: MessageInitShape<M['input']>;
};

function callGrpc<M extends DescMethodUnary>(
  client: Client,
  { token, method, request: question }: GrpcQuestion<M>,
): Promise<number> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (value: Buffer) => value,
      (value: Buffer) => value,
      Buffer.from(toBinary(method.input, create(method.input, question))),
      metadata,
      { deadline: Date.now() + 10_000 },
      (error: ServiceError | null) => {
        const status = error === null ? 200 : STATUS_OF_CODE[error.code];
        if (status === undefined) reject(error);
        else resolve(status);
      },
    );
  });
}
