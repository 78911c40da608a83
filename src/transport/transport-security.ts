/** Strict-Transport-Security (RFC 6797) on every response of a port that speaks TLS itself. */

import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Handlers } from './server-options.ts';

const NAME = 'strict-transport-security';
/** One year, in seconds. Without includeSubDomains: this server cannot know whether other hosts speak TLS. */
const VALUE = 'max-age=31536000';

/** The same handlers; their responses have the header. */
export function secureHandlers({ http, grpc, refuse }: Handlers): Handlers {
  return {
    http(request, response) {
      // The cast serves both kinds of response: their overloads do not combine in a union.
      (response as ServerResponse).setHeader(NAME, VALUE);
      http(request, response);
    },
    grpc: {
      accepts: grpc.accepts,
      serve: (stream, headers, rawHeaders) => grpc.serve(secureStream(stream), headers, rawHeaders),
      expire: (stream) => grpc.expire(secureStream(stream)),
    },
    refuse(end, socket) {
      const refusal = refuse(end, socket);
      return { ...refusal, headers: { [NAME]: VALUE, ...refusal.headers } };
    },
  };
}

function secureStream(stream: ServerHttp2Stream): ServerHttp2Stream {
  const respond = stream.respond.bind(stream);
  stream.respond = (headers, options) => respond({ [NAME]: VALUE, ...headers }, options);
  return stream;
}
