/** The Connect transport: like any client, it sends the key in a header. */

import type { Interceptor, Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';

/** `projectId` names the project of an API key that reaches several. */
export function createTransport(key: string, projectId: string | null): Transport {
  const withKey: Interceptor = (next) => (request) => {
    request.header.set('x-auth-token', key);
    if (projectId !== null) request.header.set('x-project-id', projectId);
    return next(request);
  };
  return createConnectTransport({ baseUrl: location.origin, useBinaryFormat: true, interceptors: [withKey] });
}
