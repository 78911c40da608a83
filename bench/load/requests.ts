import { randomBytes } from 'node:crypto';
import { mintApiKey } from '../../src/domain/secrets.ts';
import type { Template } from './template.ts';

export const keyPrefix = 'sk-lw-';
const refusedKeys = 10_000;

/** Collector requests over HTTP/1.1; both sides of a comparison get the same bytes. */
export function collectorRequests(trace: Template, projectKey: string): () => () => Uint8Array {
  const head = Buffer.from(
    [
      'POST /api/collector HTTP/1.1',
      'Host: 127.0.0.1',
      `X-Auth-Token: ${projectKey}`,
      'Content-Type: application/json',
      `Content-Length: ${trace.bytes}`,
      '\r\n',
    ].join('\r\n'),
    'latin1',
  );
  return () => trace.createSource(head);
}

/** Reads of the event log with keys that are well formed, checksum included, and unknown; a new one each time. */
export function refusedRequests(): () => () => Uint8Array {
  const requests = Array.from({ length: refusedKeys }, () => {
    const { token } = mintApiKey(keyPrefix, randomBytes);
    const lines = [
      'GET /api/webhooks/v1/events?from=0&to=1 HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
    ];
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  });
  let at = 0;
  return () => () => {
    at = (at + 1) % requests.length;
    return requests[at] ?? Buffer.alloc(0);
  };
}
