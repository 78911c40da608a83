/** Writes what the gateway says itself: refusals, and the headers of every answer. */

import type { ServerResponse } from 'node:http';
import type { Dialect } from '../domain/gateway/dialects/dialect.ts';
import { errorBody } from '../domain/gateway/dialects/gateway-error.ts';
import type { GatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { ProxiedRequest } from '../domain/gateway/proxied-request.ts';
import { type CallerResponse, isGone } from './relay.ts';

export type AnswerHeaders = Readonly<Record<string, string>>;

export const OWN_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function sendJson(response: CallerResponse, status: number, body: string, headers: AnswerHeaders = {}): void {
  if (response.headersSent || isGone(response)) return;
  const content = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  (response as ServerResponse).writeHead(status, { ...OWN_HEADERS, ...content, ...connectionOf(response), ...headers });
  if (response.req.method === 'HEAD') response.end();
  else (response as ServerResponse).end(body);
}

/** To OPTIONS. */
export function sendAllowed(response: CallerResponse, allow: string): void {
  (response as ServerResponse).writeHead(204, { ...OWN_HEADERS, ...connectionOf(response), allow });
  response.end();
}

/** A body that was not read would otherwise be taken in to its end. */
function connectionOf({ req }: CallerResponse): AnswerHeaders {
  return req.complete || req.httpVersionMajor > 1 ? {} : { connection: 'close' };
}

export function sendFault(
  response: CallerResponse,
  { dialect, fault }: { readonly dialect: Dialect; readonly fault: GatewayFault },
  headers: AnswerHeaders = {},
): void {
  const { httpStatus, retryAfterSeconds } = fault;
  sendJson(response, httpStatus, errorBody(dialect, fault), {
    ...headers,
    ...(httpStatus === 401 && { 'www-authenticate': 'Bearer realm="spandrel"' }),
    ...(retryAfterSeconds !== null && { 'retry-after': String(retryAfterSeconds) }),
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
