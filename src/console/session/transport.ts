/** How the console asks the server: as any other client, with the key in a header. */

import type { Interceptor, Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';

/** `projectId` names the project where an API key reaches several. */
export function createTransport(key: string, projectId: string | null): Transport {
  const withKey: Interceptor = (next) => (request) => {
    request.header.set('x-auth-token', key);
    if (projectId !== null) request.header.set('x-project-id', projectId);
    return next(request);
  };
  return createConnectTransport({ baseUrl: location.origin, useBinaryFormat: true, interceptors: [withKey] });
}
