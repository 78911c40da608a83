/** Checks a GET of Connect, whose message is in the query, before the library reads it. */

import type { DescMessage } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { Fault } from '../domain/fault.ts';
import { refuseImpossibleInstants } from './json-instants.ts';

const ENCODINGS = ['json', 'proto'];

/** Null for a GET that the library can answer; it answers others with an empty body, or as if they were bugs of the server. */
export function findGetProblem(url: string, input: DescMessage): Fault | null {
  const [, query = ''] = url.split('?', 2);
  const params = new URLSearchParams(query);
  const encoding = params.get('encoding') ?? '';
  if (!ENCODINGS.includes(encoding)) {
    return new Fault('unsupported_encoding', 'A GET names its encoding: encoding=json or encoding=proto.');
  }
  try {
    const message = readMessage(params);
    if (encoding === 'json' && !params.has('compression')) refuseImpossibleInstants(input, message);
    return null;
  } catch (error) {
    return error instanceof Fault ? error : new Fault('malformed_request', 'The message of the query is not base64.');
  }
}

function readMessage(params: URLSearchParams): Uint8Array {
  const message = params.get('message') ?? '';
  return params.get('base64') === '1' ? base64Decode(message) : Buffer.from(message);
}
