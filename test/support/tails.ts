/** Clients of live tails, one for each protocol; all return changes as REST writes them. */

import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { FoundTraceSchema, type TailTracesResponse, TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { compileEncoder } from '../../src/transport/rest/encode.ts';
import { until } from './port.ts';
import type { Body } from './surfaces.ts';

const { tailTraces } = TraceService.method;
const encodeRow = compileEncoder(FoundTraceSchema);

export type Event = { readonly type: string; readonly id: string; readonly data: Body };

export type Follower = {
  readonly events: Event[];
  /** The number of idle messages; the first one confirms the start. */
  readonly idles: () => number;
  /** The error that ended it; "end" without one; null while open. */
  readonly ended: () => string | null;
  readonly close: () => void;
};

export type Following = {
  readonly address: string;
  readonly headers: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly request?: MessageInitShape<typeof tailTraces.input>;
};

export type Follow = (following: Following) => Promise<Follower>;

type Received = { events: Event[]; idles: number; ended: string | null };

export const FOLLOW: { readonly [protocol: string]: Follow } = {
  REST: followRest,
  gRPC: followGrpc,
  'gRPC-Web': (following) =>
    followBy(createGrpcWebTransport({ baseUrl: following.address, httpVersion: '1.1' }), following),
  Connect: (following) => followBy(createConnectTransport({ baseUrl: following.address, httpVersion: '2' }), following),
};

/** Resolves once it has started. */
export async function followRest({ address, headers, query = {} }: Following): Promise<Follower> {
  const received: Received = { events: [], idles: 0, ended: null };
  const leaving = new AbortController();
  const path = `/api/traces/tail?${new URLSearchParams(query)}`;
  const response = await fetch(address + path, { headers, signal: leaving.signal });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  void readEvents(response, received).catch((error: Error) => {
    received.ended ??= error.message;
  });
  return started(received, () => leaving.abort());
}

async function readEvents(response: Response, received: Received): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) readEvent(part, received);
  }
  received.ended ??= 'end';
}

function readEvent(part: string, received: Received): void {
  if (part === ':') {
    received.idles += 1;
    return;
  }
  const fields = new Map(part.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const data = JSON.parse(fields.get('data') ?? '');
  const type = fields.get('event') ?? '';
  if (type === 'error') received.ended = data.code;
  else received.events.push({ type, id: fields.get('id') ?? '', data });
}

async function followGrpc({ address, headers, request = {} }: Following): Promise<Follower> {
  const received: Received = { events: [], idles: 0, ended: null };
  const client = new Client(new URL(address).host, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const call = client.makeServerStreamRequest(
    `/${tailTraces.parent.typeName}/${tailTraces.name}`,
    (value: Buffer) => value,
    (value: Buffer) => fromBinary(tailTraces.output, value),
    Buffer.from(toBinary(tailTraces.input, create(tailTraces.input, request))),
    metadata,
  );
  call.on('data', (answer: TailTracesResponse) => note(answer, received));
  call.on('error', (error: ServiceError) => {
    received.ended ??= String(error.code);
  });
  call.on('end', () => {
    received.ended ??= 'end';
  });
  return started(received, () => {
    call.cancel();
    client.close();
  });
}

async function followBy(transport: Transport, { headers, request = {} }: Following): Promise<Follower> {
  const received: Received = { events: [], idles: 0, ended: null };
  const leaving = new AbortController();
  const answers = createClient(TraceService, transport).tailTraces(request, { headers, signal: leaving.signal });
  void (async () => {
    for await (const answer of answers) note(answer, received);
    received.ended ??= 'end';
  })().catch((error: unknown) => {
    received.ended ??= String(ConnectError.from(error).code);
  });
  return started(received, () => leaving.abort());
}

function note({ id, change }: TailTracesResponse, received: Received): void {
  if (change.case === undefined) received.idles += 1;
  else if (change.case === 'trace')
    received.events.push({ type: 'trace', id, data: JSON.parse(encodeRow(change.value)) });
  else received.events.push({ type: 'lagged', id, data: { dropped: Number(change.value.dropped) } });
}

async function started(received: Received, close: () => void): Promise<Follower> {
  await until(() => received.idles > 0 || received.ended !== null, 'it follows');
  return { events: received.events, idles: () => received.idles, ended: () => received.ended, close };
}
