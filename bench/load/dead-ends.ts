/**
 * Receivers that are out of order, in a program of their own so that the bench itself stays quick: paths that begin with
 * `/silent` are never answered, all others at once with 500.
 */

import { createServer } from 'node:http';
import { endWithParent, sayReady } from '../limit/ready.ts';

const server = createServer((request, response) => {
  request.resume();
  if (request.url?.startsWith('/silent')) return;
  response.writeHead(500, { 'content-length': 0 });
  response.end();
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => sayReady(server.address()));
endWithParent();
