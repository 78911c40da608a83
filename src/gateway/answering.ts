/** Writes what the gateway says itself: refusals, and the headers of every answer. */

import type { ServerResponse } from 'node:http';
import type { Dialect } from '../domain/gateway/dialects/dialect.ts';
import { errorBody } from '../domain/gateway/dialects/gateway-error.ts';
import type { GatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { ProxiedRequest } from '../domain/gateway/proxied-request.ts';
import { type CallerResponse, isGone } from './relay.ts';

export type AnswerHeaders = Readonly<Record<string, string>>;

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

export function sendJson(response: CallerResponse, status: number, body: string, headers: AnswerHeaders = {}): void {
  if (response.headersSent || isGone(response)) return;
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  (response as ServerResponse).writeHead(status, { ...JSON_HEADERS, ...length, ...headers });
  (response as ServerResponse).end(body);
}

export function sendFault(
  response: CallerResponse,
  { dialect, fault }: { readonly dialect: Dialect; readonly fault: GatewayFault },
  headers: AnswerHeaders = {},
): void {
  const { httpStatus, retryAfterSeconds, code } = fault;
  sendJson(response, httpStatus, errorBody(dialect, fault), {
    ...headers,
    ...(httpStatus === 401 && { 'www-authenticate': 'Bearer realm="spandrel"' }),
    ...(retryAfterSeconds !== null && { 'retry-after': String(retryAfterSeconds) }),
    // Part of the body may not have been read.
    ...(code === 'payload_too_large' || code === 'request_timeout' ? { connection: 'close' } : {}),
  });
}

type Named = {
  readonly provider?: string;
  readonly model?: string;
  readonly cache?: 'hit' | 'miss' | 'bypass';
  readonly fallbackCount?: number;
  /** '' without any. */
  readonly budgetWarning?: string;
};

/** What every answer to a known key tells of its request. */
export function answerHeaders({ gatewayRequestId, place }: ProxiedRequest, named: Named = {}): AnswerHeaders {
  const { provider, model, cache, fallbackCount, budgetWarning = '' } = named;
  return {
    'x-langwatch-gateway-request-id': gatewayRequestId,
    'x-langwatch-trace-id': place.traceId,
    ...(provider !== undefined && { 'x-langwatch-provider': printable(provider) }),
    ...(model !== undefined && { 'x-langwatch-model': printable(model) }),
    ...(cache !== undefined && { 'x-langwatch-cache': cache }),
    ...(fallbackCount !== undefined && { 'x-langwatch-fallback-count': String(fallbackCount) }),
    ...(budgetWarning !== '' && { 'x-langwatch-budget-warning': budgetWarning }),
  };
}

/** Percent-encoded where a header cannot have it. */
function printable(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
