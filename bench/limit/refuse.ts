/** The limit program of auth-refuse: node:http answers a constant 401 without reading the request. */

import { createServer } from 'node:http';
import { endWithParent, sayReady } from './ready.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const body = Buffer.from(
  JSON.stringify({
    error: {
      type: 'unauthenticated',
      code: 'invalid_credentials',
      message: 'The credentials are not valid.',
      trace_id: traceId,
      span_id: spanId,
    },
  }),
);
// As many headers as a refusal of the server has; Node adds date and connection on both sides.
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': body.length,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'www-authenticate': 'Bearer realm="spandrel"',
  'x-request-id': 'req_0123456789ABCDEFGHIJKLMN',
  traceparent: `00-${traceId}-${spanId}-01`,
};

const server = createServer((_request, response) => {
  response.writeHead(401, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
