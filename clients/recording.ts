/** Passes what clients export on to the server, and keeps it for `--record`. */

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { ExportLogsServiceRequestSchema } from '../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { ExportTraceServiceRequestSchema } from '../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { PROJECT_KEY } from '../test/support/server.ts';

type Signal = 'traces' | 'logs';

export type Sent = { readonly signal: Signal; readonly mediaType: string; readonly body: Buffer };

export type Relay = {
  readonly address: string;
  /** The exports of spans and log records since the last call. */
  take(): readonly Sent[];
  close(): void;
};

const FOLDER = new URL('../test/otlp/recorded/', import.meta.url);
/** What describes the machine and the process of a client. */
const OF_THE_MACHINE = /^(host|os|process)\./;
const PRIVATE = [hostname(), process.cwd(), userInfo().homedir, '/node_modules/', PROJECT_KEY];

export async function startRelay(target: string): Promise<Relay> {
  let sent: Sent[] = [];
  const relay = createServer((request, response) => {
    void pass(request, response);
  });
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const raw = Buffer.concat(pieces);
    const { host: _, connection: _c, 'content-length': _l, 'transfer-encoding': _t, ...headers } = request.headers;
    const { method = 'GET', url = '/' } = request;
    const mediaType = headers['content-type'] ?? '';
    const signal = url.endsWith('/v1/traces') ? 'traces' : url.endsWith('/v1/logs') ? 'logs' : undefined;
    if (signal !== undefined) {
      sent.push({ signal, mediaType, body: headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw });
    }
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: headers as { readonly [name: string]: string },
      ...(method === 'GET' ? {} : { body: raw }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body);
  }
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port } = relay.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
    close() {
      relay.closeAllConnections();
      relay.close();
    },
  };
}

/** Replaces the recording of any earlier version. Throws when it would tell something of this machine. */
export function writeRecording(name: string, sent: readonly Sent[]): void {
  if (sent.length === 0) throw new Error(`${name} sent nothing`);
  const client = name.replace(/-\d+\.\d+\.\d+[^/]*$/, '');
  for (const file of readdirSync(FOLDER)) {
    if (file.startsWith(`${client}-`) && /^\d+\.\d+\.\d+/.test(file.slice(client.length + 1)))
      rmSync(new URL(file, FOLDER));
  }
  for (const [index, { signal, mediaType, body }] of sent.entries()) {
    const isJson = mediaType.includes('json');
    const written = isJson ? withoutMachineInJson(body) : withoutMachine[signal](body);
    const leaked = PRIVATE.find((text) => written.includes(text));
    if (leaked !== undefined) throw new Error(`${name} tells ${leaked}`);
    const part = `${sent.length > 1 ? `-${index + 1}` : ''}${signal === 'logs' ? '-logs' : ''}`;
    writeFileSync(new URL(`${name}${part}.${isJson ? 'json' : 'bin'}`, FOLDER), written);
  }
}

const withoutMachine: { readonly [Name in Signal]: (body: Buffer) => Buffer } = {
  traces(body) {
    const request = fromBinary(ExportTraceServiceRequestSchema, body);
    for (const { resource } of request.resourceSpans) clean(resource);
    return Buffer.from(toBinary(ExportTraceServiceRequestSchema, request));
  },
  logs(body) {
    const request = fromBinary(ExportLogsServiceRequestSchema, body);
    for (const { resource } of request.resourceLogs) clean(resource);
    return Buffer.from(toBinary(ExportLogsServiceRequestSchema, request));
  },
};

function clean<Attribute extends { readonly key: string }>(resource: { attributes: Attribute[] } | undefined): void {
  if (resource) resource.attributes = resource.attributes.filter(({ key }) => !OF_THE_MACHINE.test(key));
}

function withoutMachineInJson(body: Buffer): Buffer {
  const request = JSON.parse(body.toString());
  for (const { resource } of request.resourceSpans ?? request.resourceLogs) clean(resource);
  return Buffer.from(JSON.stringify(request));
}
