/** Recognizes rpc requests by their headers. */

import type { HttpHandler } from './server-options.ts';

type Request = Parameters<HttpHandler>[0];

/** True for requests in an rpc protocol, whether or not the rpc exists. */
export function isRpcRequest(request: Request): boolean {
  const type = request.headers['content-type'] ?? '';
  return (
    isGrpc(type) || /^application\/(connect\+|proto\b)/.test(type) || 'connect-protocol-version' in request.headers
  );
}

export function isGrpc(contentType: string): boolean {
  return /^application\/grpc(-web)?(\+|;|$)/.test(contentType);
}
