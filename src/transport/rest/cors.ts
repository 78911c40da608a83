/** CORS. Credentials travel in headers only, so `access-control-allow-credentials` is never sent. */

import type { ServerResponse } from 'node:http';
import { addIds, type IdSource } from '../call-ids.ts';
import { firstHeader } from '../first-header.ts';
import type { RestRequest, RestResponse } from './exchange.ts';

/** `*`, `none`, or exact origins. */
export type CorsOrigins = '*' | 'none' | readonly string[];

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** What the gateway tells of a request with a virtual key. */
const OF_GATEWAY = ['Gateway-Request-Id', 'Trace-Id', 'Provider', 'Model', 'Cache', 'Fallback-Count', 'Budget-Warning'];
const EXPOSED = [
  ...['X-Request-Id', 'X-Idempotent-Replay', 'X-Next-Cursor', 'ETag', 'traceparent', 'Retry-After'],
  ...['Grpc-Status', 'Grpc-Message', 'Grpc-Status-Details-Bin'],
  ...OF_GATEWAY.map((name) => `X-LangWatch-${name}`),
].join(', ');
const PREFLIGHT_MAX_AGE_S = '7200';

/** Adds the CORS headers; true when the request was a preflight, which has its response then. */
export function createCors(
  origins: CorsOrigins,
  ids: IdSource,
): (request: RestRequest, response: RestResponse) => boolean {
  return (request, response) => {
    const origin = request.headers.origin;
    if (origin === undefined) return false;
    const allowed = allow(origins, origin);
    for (const [name, value] of Object.entries(corsHeaders(origins, origin))) response.setHeader(name, value);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    if (allowed !== null) {
      response.setHeader('access-control-allow-methods', METHODS);
      response.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE_S);
      const requested = request.headers['access-control-request-headers'];
      if (requested) response.setHeader('access-control-allow-headers', requested);
    }
    const headers = { vary: 'Origin', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
    const callIds = ids.next(firstHeader(request.headers, request.rawHeaders));
    (response as ServerResponse).writeHead(204, addIds(headers, callIds)).end();
    return true;
  };
}

/** The CORS headers of any answer; the origin is undefined where the request has none, or could not be read. */
export function corsHeaders(origins: CorsOrigins, origin: string | undefined): { readonly [name: string]: string } {
  const allowed = allow(origins, origin);
  return {
    ...(allowed === null ? {} : { 'access-control-allow-origin': allowed, 'access-control-expose-headers': EXPOSED }),
    ...(allowed === '*' ? {} : { vary: 'Origin' }),
  };
}

function allow(origins: CorsOrigins, origin: string | undefined): string | null {
  if (origins === '*') return '*';
  if (origins === 'none' || origin === undefined) return null;
  return origins.includes(origin) ? origin : null;
}
