/** Errors of the gateway, in the dialect of the route. */

import { type LosslessObject, stringifyLossless } from '../../../json/lossless-json.ts';
import { type Dialect, dialectOf, type RouteKind } from './dialect.ts';

export type GatewayError = {
  readonly httpStatus: number;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Further members of the error. */
  readonly details?: LosslessObject;
};

/** The body of a refusal. Anthropic's errors have no code and param; clients that look for ours find them there too. */
export function errorBody(dialect: Dialect, { httpStatus, code, message, param, details = {} }: GatewayError): string {
  if (dialect === 'openai') {
    return stringifyLossless({ error: { ...details, message, type: openAiType(httpStatus), param, code } });
  }
  const sent = param === null ? {} : { param };
  return stringifyLossless({
    type: 'error',
    error: { ...details, type: anthropicType(httpStatus), message, code, ...sent },
  });
}

/** Ends a stream that the provider broke off. */
export function streamErrorEvent(route: RouteKind, { code, message }: Pick<GatewayError, 'code' | 'message'>): Buffer {
  const dialect = dialectOf(route);
  const body = errorBody(dialect, { httpStatus: STREAM_HTTP_STATUS, code, message, param: null });
  if (route !== 'responses') return event(dialect === 'anthropic' ? 'error' : null, body);
  // Documented is a flat event, but OpenAI itself sends an inner error, and clients look for that.
  const flat = stringifyLossless({ type: 'error', sequence_number: 0, code, message, param: null });
  return event('error', `${flat.slice(0, -1)},${body.slice(1)}`);
}

/** Stands for an upstream that failed. */
const STREAM_HTTP_STATUS = 502;

function event(name: string | null, data: string): Buffer {
  return Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`);
}

const OPENAI_TYPES: { readonly [httpStatus: number]: string } = {
  402: 'insufficient_quota',
  429: 'rate_limit_error',
};

function openAiType(httpStatus: number): string {
  return OPENAI_TYPES[httpStatus] ?? (httpStatus >= 500 ? 'server_error' : 'invalid_request_error');
}

const ANTHROPIC_TYPES: { readonly [httpStatus: number]: string } = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function anthropicType(httpStatus: number): string {
  return ANTHROPIC_TYPES[httpStatus] ?? (httpStatus >= 500 ? 'api_error' : 'invalid_request_error');
}
