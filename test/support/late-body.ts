/** Sends a request whose body comes late: the server has judged the credential before it reads the body. */

import { request } from 'node:http';
import type { Body } from './surfaces.ts';

type LateRequest = {
  readonly verb: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: object;
};

/** `meanwhile` runs once the server asks for the body, which it does only after it has authorized the caller. */
export function sendLate(
  address: string,
  { verb, path, headers, body }: LateRequest,
  meanwhile: () => Promise<void>,
): Promise<{ readonly status: number; readonly body: Body }> {
  const text = JSON.stringify(body);
  const typed = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(address + path, {
      method: verb,
      headers: { ...headers, ...typed, expect: '100-continue' },
    });
    sent.on('continue', () => void meanwhile().then(() => sent.end(text), reject));
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
    });
    sent.flushHeaders();
  });
}
