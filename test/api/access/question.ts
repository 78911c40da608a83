/** Sends one request, written as for REST, over REST and gRPC. */

import { getOption, type Message } from '@bufbuild/protobuf';
import { http } from '../../../gen/google/api/annotations_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import type { JsonValue } from '../../../src/domain/fault.ts';
import { routeOf } from '../../../src/rpc/rest-shape.ts';
import { decodeMessage } from '../../../src/transport/rest/decode.ts';
import { type Body, type Callable, callRest, callRpc, grpcStatus } from '../../support/surfaces.ts';

type Texts = Readonly<Record<string, string>>;
type JsonObject = Readonly<Record<string, JsonValue>>;

export type Question = {
  readonly method: Callable;
  /** Path parameters by name in the template. */
  readonly parameters?: Texts;
  readonly query?: Texts;
  readonly body?: JsonObject;
  /** The gRPC request, if the body does not determine it. */
  readonly message?: Message | Readonly<Record<string, unknown>>;
  readonly headers?: Texts;
};

/** An answer; gRPC statuses are shown as HTTP statuses. */
export type Outcome = { readonly status: number | string; readonly code: string | null; readonly body: Body };

/** The expected answer. */
export type Wanted = { readonly status: number; readonly code: string | null };

export type Surface = 'REST' | 'gRPC';
export const SURFACES: readonly Surface[] = ['REST', 'gRPC'];

export type AskOptions = {
  readonly address: string;
  /** Null: no token. */
  readonly token: string | null;
  readonly wanted: Wanted;
  /** Index of the rpc's path to use. */
  readonly spelling?: number;
};

export async function ask(surface: Surface, question: Question, options: AskOptions): Promise<Outcome> {
  return await (surface === 'REST' ? askRest(question, options) : askRpc(question, options));
}

async function askRest(question: Question, { address, token, spelling = 0 }: AskOptions): Promise<Outcome> {
  const routes = routesOf(question.method);
  const route = routes[spelling % routes.length] ?? { verb: '', template: '' };
  const { status, body } = await callRest(address, {
    verb: route.verb,
    path: pathOf(route.template, question),
    ...(question.body === undefined ? {} : { body: question.body }),
    headers: headersOf(question, token),
  });
  const error = body?.error?.code === undefined ? body : body.error;
  return { status, code: status < 300 ? null : error.code, body };
}

async function askRpc(question: Question, { address, token, wanted }: AskOptions): Promise<Outcome> {
  const { method } = question;
  const answer = await callRpc(address, {
    method,
    request: question.message ?? decode(question),
    headers: headersOf(question, token),
  });
  if (answer.ok) return { status: getOption(method, policy).successStatus, code: null, body: answer.body };
  const isWanted = wanted.code !== null && answer.error.code === grpcStatus(wanted.status, wanted.code);
  return {
    status: isWanted ? wanted.status : `gRPC ${answer.error.code} ${answer.error.details}`,
    code: answer.code,
    body: { message: answer.error.details, meta: answer.meta },
  };
}

/** Before the secret of a session, where it stands in place of a token. */
export const SESSION_PREFIX = 'spandrel_session=';

function credentialHeaders(token: string): Texts {
  if (!token.startsWith(SESSION_PREFIX)) return { authorization: `Bearer ${token}` };
  return { cookie: token, 'x-spandrel-console': '1' };
}

/** Every path of an rpc, its aliases included. */
export function routesOf(method: Callable): readonly { readonly verb: string; readonly template: string }[] {
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map(routeOf);
}

function pathOf(template: string, { parameters = {}, query = {} }: Question): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

function headersOf({ headers = {} }: Question, token: string | null): Texts {
  return token === null ? headers : { ...headers, ...credentialHeaders(token) };
}

function decode({ method, parameters = {}, query = {}, body }: Question): Message {
  const sent = getOption(method, http).body === '' ? null : (body ?? {});
  return decodeMessage(method.input, {
    parameters,
    query: new URLSearchParams(query),
    body: sent,
    nullUnsets: true,
    nullIsAbsent: false,
  }).message;
}
