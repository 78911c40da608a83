/** Checks request signatures as Amazon does: Signature Version 4 with the caller's secret key. */

import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export type Caller = { readonly secretAccessKey: string; readonly sessionToken: string | null };

export type Credential = {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
};

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** Null: the header is absent or malformed. */
export function readCredential({ headers }: IncomingMessage): Credential | null {
  const [, accessKeyId, date, region, service] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  if (accessKeyId === undefined || date === undefined || region === undefined || service === undefined) return null;
  return { accessKeyId, date, region, service };
}

export function isSignedBy(request: IncomingMessage, body: Buffer, caller: Caller): boolean {
  const [, , date = '', region = '', service = '', names = '', signature] =
    AUTHORIZATION.exec(request.headers.authorization ?? '') ?? [];
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${caller.secretAccessKey}`,
  );
  const text = [
    'AWS4-HMAC-SHA256',
    request.headers['x-amz-date'],
    `${date}/${region}/${service}/aws4_request`,
    sha256(canonicalRequest(request, body, names)),
  ].join('\n');
  return createHmac('sha256', key).update(text).digest('hex') === signature;
}

/** The canonical request, which services also show for a wrong signature. */
export function canonicalRequest(request: IncomingMessage, body: Buffer, names: string): string {
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name] ?? '').trim()}`);
  return [request.method, request.url, '', ...headers, '', names, sha256(body)].join('\n');
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
