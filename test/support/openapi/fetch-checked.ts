/** Sends a request to a REST route as it is, and checks the exchange against the OpenAPI document. */

import { checkExchange } from './exchange.ts';

export type Sent = {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
};

export async function fetchChecked(address: string, path: string, sent: Sent = {}): Promise<Response> {
  const { method = 'GET', headers = {}, body } = sent;
  const init = { method, headers, ...(body !== undefined && { body: body as string | Uint8Array<ArrayBuffer> }) };
  const response = await fetch(address + path, init);
  const { status, headers: received } = response;
  const text = await response.clone().text();
  checkExchange({
    verb: method,
    path,
    body: isProtobuf(received) ? undefined : textOf(sent),
    status,
    headers: received,
    text,
  });
  return response;
}

/** OTLP answers in the encoding of its request. */
function isProtobuf(headers: Headers): boolean {
  return headers.get('content-type') === 'application/x-protobuf';
}

/** Undefined for a compressed body. */
function textOf({ body, headers = {} }: Sent): string | undefined {
  const encoding = headers['content-encoding'] ?? 'identity';
  return body === undefined || encoding !== 'identity' ? undefined : Buffer.from(body).toString();
}
