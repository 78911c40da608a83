/**
 * Records requests of published clients: `node test/otlp/record.ts`. Tests read the recordings; run it again for new
 * client versions, and review the changes.
 */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { startProvider } from '../../clients/provider.ts';
import { CLIENT_NAMES, type ClientName, runClient } from './run-client.ts';

type Sent = { readonly mediaType: string; readonly body: Buffer };

const FOLDER = new URL('./recorded/', import.meta.url);
const PRIVATE = [hostname(), process.cwd(), userInfo().homedir, '/node_modules/'];

const openAi = await startProvider();
for (const name of CLIENT_NAMES) {
  const sent = name.endsWith('-grpc') ? await recordGrpc(name) : await recordHttp(name);
  if (sent.length === 0) throw new Error(`${name} sent nothing`);
  for (const [index, { mediaType, body }] of sent.entries()) {
    const leaked = PRIVATE.find((text) => body.includes(text));
    if (leaked !== undefined) throw new Error(`${name} tells ${leaked}`);
    const ending = mediaType.includes('json') ? 'json' : 'bin';
    writeFileSync(new URL(`${name}${sent.length > 1 ? `-${index + 1}` : ''}.${ending}`, FOLDER), body);
  }
}
openAi.close();

async function recordHttp(name: ClientName): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const raw = Buffer.concat(pieces);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      const mediaType = request.headers['content-type'] ?? '';
      if (request.url?.endsWith('/v1/traces')) sent.push({ mediaType, body });
      const isJson = mediaType.includes('json');
      response.writeHead(200, { 'content-type': mediaType }).end(isJson ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await runClient(name, { address: `http://127.0.0.1:${port}`, key: 'sk-recording', openAiUrl: openAi.address });
  server.closeAllConnections();
  server.close();
  return sent;
}

async function recordGrpc(name: ClientName): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const pass = (value: Buffer) => value;
  const server = new Server();
  const receive: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
    sent.push({ mediaType: 'application/x-protobuf', body: call.request });
    callback(null, Buffer.alloc(0));
  };
  const definition = {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  };
  server.addService({ export: definition }, { export: receive });
  const bind = promisify<string, ServerCredentials, number>(server.bindAsync.bind(server));
  const port = await bind('127.0.0.1:0', ServerCredentials.createInsecure());
  await runClient(name, { address: `http://127.0.0.1:${port}`, key: 'sk-recording', openAiUrl: openAi.address });
  server.forceShutdown();
  return sent;
}
