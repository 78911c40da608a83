/** Calls the endpoint service over REST and gRPC, and starts receivers for it. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getOption } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { ask, type Question, type Surface } from '../access/question.ts';

export { SURFACES, type Surface } from '../access/question.ts';

export const BASE = '/api/webhooks/v1/endpoints';
/** A closed port, which fails at once. */
export const NOBODY_URL = 'http://127.0.0.1:1/';
export const HTTP = { url: NOBODY_URL, enabled_events: ['gateway.virtual_key.*'] };
export const QUEUE_URL = 'https://sqs.eu-west-1.amazonaws.com/123456789012/events';
export const ROLE = 'arn:aws:iam::123456789012:role/sender';

const { method: methods } = EndpointService;
export type Operation = keyof typeof methods;

export type EndpointRequest = Omit<Question, 'method' | 'body'> & {
  readonly body?: object;
  /** The path parameter `id`. */
  readonly id?: string;
  readonly token?: string;
};

/** Returns the body of a success, or its error; fails on any other answer. */
export async function invoke(
  app: TestApp,
  [surface, operation]: readonly [Surface, Operation],
  request: EndpointRequest = {},
  wanted: string | null = null,
): Promise<Body> {
  const { id, token = app.adminKey, body, ...question } = request;
  const method = methods[operation];
  const [status = getOption(method, policy).successStatus, code = null] = wanted?.split(' ') ?? [];
  const outcome = await ask(
    surface,
    {
      ...question,
      method,
      parameters: { ...(id === undefined ? {} : { id }), ...request.parameters },
      ...(body === undefined ? {} : { body: JSON.parse(JSON.stringify(body)) }),
    },
    { address: app.address, token, wanted: { status: Number(status), code } },
  );
  const { body: answer, ...answered } = outcome;
  expect({ operation, surface, ...answered }, JSON.stringify(answer)).toEqual({
    operation,
    surface,
    status: Number(status),
    code,
  });
  return code === null ? answer : (answer.error ?? answer);
}

/** Starts a server that may send to this machine. */
export function startSending(environment: { readonly [name: string]: string } = {}, clock?: () => number) {
  const settings = { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1', ...environment };
  return startApp({ environment: settings, ...(clock === undefined ? {} : { clock }) });
}

export async function create(app: TestApp, body: object = HTTP): Promise<Body> {
  return (await invoke(app, ['REST', 'createEndpoint'], { body })).data;
}

/** A REST call as the administrator. */
export function call(app: TestApp, verb: string, path: string, more: { body?: unknown; headers?: object } = {}) {
  const headers = { authorization: `Bearer ${app.adminKey}`, ...more.headers } as { [name: string]: string };
  return callRest(app.address, { verb, path, headers, ...(more.body === undefined ? {} : { body: more.body }) });
}

export type Receipt = { readonly headers: IncomingHttpHeaders; readonly body: string };

export type Receiver = {
  readonly url: string;
  readonly received: readonly Receipt[];
  answer: { status: number; body: string };
  close(): Promise<void>;
};

/** Records requests and sends the preset answer. */
export async function startReceiver(): Promise<Receiver> {
  const received: Receipt[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(receiver.answer.status).end(receiver.answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`,
    received,
    answer: { status: 200, body: 'taken' },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
