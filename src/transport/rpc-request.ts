/** Recognizes rpc requests by their paths and headers. */

import type { HttpHandler } from './server-options.ts';

type Request = Pick<Parameters<HttpHandler>[0], 'url' | 'headers'>;

/** A dotted service name in the first segment: no JSON path has one. */
const RPC_PATH = /^\/\w+(\.\w+)+\//;

/** True for requests to the path of an rpc or in an rpc protocol, whether or not the rpc exists. */
export function isRpcRequest({ url = '', headers }: Request): boolean {
  const type = headers['content-type'] ?? '';
  if (RPC_PATH.test(url) || isGrpc(type)) return true;
  return /^application\/(connect\+|proto\b)/.test(type) || 'connect-protocol-version' in headers;
}

export function isGrpc(contentType: string): boolean {
  return /^application\/grpc(-web)?(\+|;|$)/.test(contentType);
}
