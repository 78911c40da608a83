/** Tells requests that mean an rpc by what they say of themselves. */

import type { HttpHandler } from './server.ts';

type Request = Parameters<HttpHandler>[0];

/** True for requests that mean an rpc, whether or not it exists. */
export function isRpcRequest(request: Request): boolean {
  const type = request.headers['content-type'] ?? '';
  return (
    isGrpc(type) || /^application\/(connect\+|proto\b)/.test(type) || 'connect-protocol-version' in request.headers
  );
}

export function isGrpc(contentType: string): boolean {
  return /^application\/grpc(-web)?(\+|;|$)/.test(contentType);
}
