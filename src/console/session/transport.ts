/** The Connect transports: of the session, which the browser sends in a cookie, and of a key that begins one. */

import type { Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { isLoss, recoverConnection } from './connection.ts';

/** The server accepts the cookie only with this header, which no other page can send. `projectId` names one of several projects. */
export function sessionHeaders(projectId: string | null): Readonly<Record<string, string>> {
  return { 'x-spandrel-console': '1', ...(projectId !== null && { 'x-project-id': projectId }) };
}

export function createTransport(projectId: string | null): Transport {
  return withHeaders(sessionHeaders(projectId));
}

export function createKeyTransport(key: string): Transport {
  return withHeaders({ 'x-auth-token': key });
}

/** Sends no credential, not even the cookie of a session that the browser has. */
export function createOpenTransport(): Transport {
  return withHeaders({}, (input, init) => fetch(input, { ...init, credentials: 'omit' }));
}

function withHeaders(headers: Readonly<Record<string, string>>, send: typeof fetch = fetch): Transport {
  return createConnectTransport({
    baseUrl: location.origin,
    useBinaryFormat: true,
    fetch: send,
    interceptors: [
      (next) => async (request) => {
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
        try {
          return await next(request);
        } catch (error) {
          if (isLoss(error)) void recoverConnection();
          throw error;
        }
      },
    ],
  });
}
