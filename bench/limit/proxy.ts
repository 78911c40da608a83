/**
 * What the rows of the gateway are compared with when npm cannot be reached: node:http before the same provider, which reads a
 * request as JSON, passes it on and hands the answer back. Usage: node proxy.ts <port of the provider>
 */

import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { endWithParent, sayReady } from './ready.ts';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => pass(incoming, Buffer.concat(chunks), response));
});

function pass({ url, headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
  if (typeof JSON.parse(body.toString()).model !== 'string') throw new Error('The request names no model.');
  const sent = {
    authorization: headers.authorization,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const upstream = request({ agent, host: '127.0.0.1', port, path: url, method: 'POST', headers: sent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  upstream.end(body);
}

server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
