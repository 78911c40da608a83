/**
 * Failing receivers, in a process of their own to keep the bench fast: paths that begin with `/silent` get no answer,
 * all others 500 at once.
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
