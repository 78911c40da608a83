import { randomBytes } from 'node:crypto';
import { mintApiKey } from '../../src/domain/secrets.ts';
import type { RequestSource } from './http.ts';
import type { Template } from './template.ts';

export const keyPrefix = 'sk-lw-';
const refusedKeys = 10_000;

/** Collector requests over HTTP/1.1; both sides of a comparison get the same bytes. */
export function collectorRequests(trace: Template, projectKey: string): () => RequestSource {
  return postRequests(trace, { path: '/api/collector', mediaType: 'application/json', projectKey });
}

export type Posting = { readonly path: string; readonly mediaType: string; readonly projectKey: string };

export function postRequests(trace: Template, { path, mediaType, projectKey }: Posting): () => RequestSource {
  const head = Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `X-Auth-Token: ${projectKey}`,
      `Content-Type: ${mediaType}`,
      `Content-Length: ${trace.bytes}`,
      '\r\n',
    ].join('\r\n'),
    'latin1',
  );
  return () => ({ next: trace.createSource(head) });
}

/** Reads of the event log with well-formed but unknown keys, a new one each time. */
export function refusedRequests(): () => RequestSource {
  return cycle(
    Array.from({ length: refusedKeys }, () =>
      getRequest('/api/webhooks/v1/events?from=0&to=1', bearer(mintApiKey(keyPrefix, randomBytes).token)),
    ),
  );
}

/** A request without a body; `credential` is a whole header line. */
export function getRequest(path: string, credential: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${credential}\r\n\r\n`, 'latin1');
}

export function bearer(key: string): string {
  return `Authorization: Bearer ${key}`;
}

/** Repeats prebuilt requests; all connections share one sequence. */
export function cycle(requests: readonly Buffer[]): () => RequestSource {
  let at = 0;
  return () => ({
    next() {
      at = (at + 1) % requests.length;
      return requests[at] ?? Buffer.alloc(0);
    },
  });
}
