/** Sends requests as a browser does: fetch does not let a test set cookies and origins. */

import { request as httpRequest } from 'node:http';
import { SESSION_AGE_MAX_MS } from '../../../src/domain/sessions/session.ts';
import type { TestApp } from '../../support/app.ts';
import type { Body } from '../../support/surfaces.ts';

export type Headers = { readonly [name: string]: string };
export type Sent = {
  readonly verb?: string;
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string;
};
export type Received = { readonly status: number; readonly body: Body; readonly cookie: string | null };

export function send(
  { address }: Pick<TestApp, 'address'>,
  { verb = 'GET', path, headers = {}, body = '' }: Sent,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = { ...headers, ...(body === '' ? {} : { 'content-length': Buffer.byteLength(body) }) };
    const request = httpRequest(address + path, { method: verb, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const [cookie = null] = response.headers['set-cookie'] ?? [];
        resolve({ status: response.statusCode ?? 0, body: text === '' ? null : JSON.parse(text), cookie });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

export type Begun = { readonly id: string; readonly cookie: string; readonly attributes: readonly string[] };

export async function begin(app: TestApp, token: string, headers: Headers = {}): Promise<Begun> {
  const answer = await send(app, {
    verb: 'POST',
    path: '/api/auth/session',
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  if (answer.status !== 201) throw new Error(`no session: ${answer.status} ${JSON.stringify(answer.body)}`);
  const [cookie = '', ...attributes] = (answer.cookie ?? '').split('; ');
  return { id: answer.body.id, cookie, attributes };
}

/** The headers of a request of the console. */
export function consoleHeaders(cookie: string, headers: Headers = {}): Headers {
  return { cookie, 'x-spandrel-console': '1', ...headers };
}

export const MAX_AGE_SECONDS = SESSION_AGE_MAX_MS / 1_000;
