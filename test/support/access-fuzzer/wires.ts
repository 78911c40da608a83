/** Sends a request over one of three protocols and returns the answer in the form of REST. */

import { create, fromBinary, fromJson, getOption, type Message, toJson } from '@bufbuild/protobuf';
import { http } from '../../../gen/google/api/annotations_pb.js';
import { ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import type { JsonValue } from '../../../src/domain/fault.ts';
import { pathParameters } from '../../../src/rpc/rest-shape.ts';
import { decodeMessage } from '../../../src/transport/rest/decode.ts';
import { compileEncoder } from '../../../src/transport/rest/encode.ts';
import { routesOf } from '../../api/access/question.ts';
import { readRoutedMethods } from '../../api/access/services.ts';
import type { Ask } from '../access-model/verdict.ts';
import { readInfo } from '../error-info.ts';
import { asMessage } from '../fixtures.ts';
import { type Body, type Callable, callRest, callRpc, grpcStatus } from '../surfaces.ts';

export const WIRES = ['REST', 'gRPC', 'Connect'] as const;
export type Wire = (typeof WIRES)[number];

export type Answer = {
  /** The HTTP or gRPC status. */
  readonly status: number;
  /** Whether the protocol maps this HTTP status and code to the status received. */
  readonly means: (status: number, code: string | null) => boolean;
  readonly code: string | null;
  readonly body: Body;
  /** Members of the error, in camel case. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly isReplay: boolean;
};

export type Send = (wire: Wire, ask: Ask, spelling: number) => Promise<Answer>;

export async function createSend(address: string): Promise<Send> {
  const methods = new Map((await readRoutedMethods()).map((method) => [method.name, method]));
  return (wire, ask, spelling) => {
    const method = methods.get(ask.rpc);
    if (method === undefined) throw new Error(`no rpc is called ${ask.rpc}`);
    const sending = { address, method, ask };
    if (wire === 'REST') return sendRest(sending, spelling);
    return wire === 'gRPC' ? sendGrpc(sending) : sendConnect(sending);
  };
}

type Sending = { readonly address: string; readonly method: Callable; readonly ask: Ask };

function headersOf({ token, authToken, project, once }: Ask): Record<string, string> {
  return {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(authToken === undefined ? {} : { 'x-auth-token': authToken }),
    ...(project === undefined ? {} : { 'x-project-id': project }),
    ...(once === undefined ? {} : { 'idempotency-key': once }),
  };
}

async function sendRest({ address, method, ask }: Sending, spelling: number): Promise<Answer> {
  const routes = routesOf(method);
  const { verb, template } = routes[spelling % routes.length] ?? { verb: '', template: '' };
  const query = new URLSearchParams(ask.query).toString();
  const path = template.replace(/\{\w+\}/, encodeURIComponent(ask.id ?? ''));
  const { status, body, headers } = await callRest(address, {
    verb,
    path: query === '' ? path : `${path}?${query}`,
    headers: headersOf(ask),
    ...(ask.body === undefined ? {} : { body: ask.body }),
  });
  const error = typeof body?.error === 'object' ? body.error : body;
  const isRefused = status >= 300;
  return {
    status,
    means: (wanted) => status === wanted,
    code: isRefused ? error.code : null,
    body,
    members: isRefused ? { ...error, ...camelCased(error.meta ?? {}) } : {},
    isReplay: headers.get('x-idempotent-replay') === 'true',
  };
}

/** The protobuf message that corresponds to the REST request. */
function messageOf({ method, ask }: Sending): Message {
  const { template } = routesOf(method)[0] ?? { template: '' };
  const parameters = Object.fromEntries(pathParameters(template).map((name) => [name, ask.id ?? '']));
  if (method.name === 'CollectTrace') return create(method.input, asMessage(ask.body as never));
  return decodeMessage(method.input, {
    parameters,
    query: new URLSearchParams(ask.query),
    body: getOption(method, http).body === '' ? null : ((ask.body ?? {}) as Readonly<Record<string, JsonValue>>),
    nullUnsets: true,
    nullIsAbsent: false,
  }).message;
}

async function sendGrpc(sending: Sending): Promise<Answer> {
  const { address, method, ask } = sending;
  const answer = await callRpc(address, { method, request: messageOf(sending), headers: headersOf(ask) });
  if (answer.ok) {
    return succeeded(method, answer.body, answer.metadata.get('x-idempotent-replay')[0] === 'true');
  }
  const { code: status } = answer.error;
  return {
    status,
    means: (wanted, code) => code !== null && status === grpcStatus(wanted, code),
    code: answer.code,
    body: answer.meta,
    members: camelCased(answer.meta as object),
    isReplay: false,
  };
}

function succeeded(method: Callable, body: Body, isReplay: boolean): Answer {
  const status = getOption(method, policy).successStatus;
  return {
    status,
    means: (wanted, code) => code === null && wanted === status,
    code: null,
    body,
    members: {},
    isReplay,
  };
}

const CONNECT_STATUS: Readonly<Record<number, string>> = {
  3: 'invalid_argument',
  5: 'not_found',
  6: 'already_exists',
  7: 'permission_denied',
  9: 'failed_precondition',
  10: 'aborted',
  16: 'unauthenticated',
};

async function sendConnect(sending: Sending): Promise<Answer> {
  const { address, method, ask } = sending;
  const response = await fetch(`${address}/${method.parent.typeName}/${method.name}`, {
    method: 'POST',
    headers: { ...headersOf(ask), 'content-type': 'application/json', 'connect-protocol-version': '1' },
    body: JSON.stringify(toJson(method.input, messageOf(sending))),
  });
  const body = (await response.json()) as Body;
  if (response.ok) {
    const shown = JSON.parse(compileEncoder(method.output)(fromJson(method.output, body)));
    return succeeded(method, shown, response.headers.get('x-idempotent-replay') === 'true');
  }
  const detail = body.details?.find(({ type }: { readonly type: string }) => type === 'google.rpc.ErrorInfo');
  const info = readInfo(fromBinary(ErrorInfoSchema, Buffer.from(detail?.value ?? '', 'base64')));
  return {
    status: response.status,
    means: (wanted, code) => code !== null && body.code === CONNECT_STATUS[grpcStatus(wanted, code)],
    code: info.code,
    body,
    members: camelCased(info.meta),
    isReplay: false,
  };
}

/** The canonical family uses snake case. */
function camelCased(members: object): Readonly<Record<string, unknown>> {
  const entries = Object.entries(members).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(entries);
}
