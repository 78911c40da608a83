/** Strict-Transport-Security (RFC 6797) on every answer of a port that speaks TLS itself. */

import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Handlers } from './server.ts';

const NAME = 'strict-transport-security';
/** One year, in seconds. Other hosts of the domain are not ours to decide about. */
const VALUE = 'max-age=31536000';

/** The same handlers, whose answers carry the header. */
export function secureHandlers({ http, grpc, refuse }: Handlers): Handlers {
  return {
    http(request, response) {
      // Declared with overloads that no union satisfies.
      (response as ServerResponse).setHeader(NAME, VALUE);
      http(request, response);
    },
    grpc: {
      takes: grpc.takes,
      serve: (stream, headers, rawHeaders) => grpc.serve(secureStream(stream), headers, rawHeaders),
      expire: (stream) => grpc.expire(secureStream(stream)),
    },
    refuse: (end, socket) => secureText(refuse(end, socket)),
  };
}

function secureStream(stream: ServerHttp2Stream): ServerHttp2Stream {
  const respond = stream.respond.bind(stream);
  stream.respond = (headers, options) => respond({ [NAME]: VALUE, ...headers }, options);
  return stream;
}

/** A whole HTTP/1.1 answer; the header goes behind its status line. */
function secureText(answer: Buffer): Buffer {
  const lineEnd = answer.indexOf('\r\n') + 2;
  return Buffer.concat([answer.subarray(0, lineEnd), Buffer.from(`${NAME}: ${VALUE}\r\n`), answer.subarray(lineEnd)]);
}
