/**
 * The limit program of ingest-json and ingest-batch: node:http, JSON.parse, one durable indexed row per trace
 * (mode `trace`) or per span (mode `span`), and nothing else. Usage: node http.ts <database file> trace|span
 */

import { createServer, type ServerResponse } from 'node:http';
import { createCommitter } from './committer.ts';
import { endWithParent, sayReady } from './ready.ts';

type Trace = { trace_id: string; spans: { span_id: string }[] };

const [path, mode] = process.argv.slice(2);
if (path === undefined || (mode !== 'trace' && mode !== 'span')) {
  throw new Error('Usage: node http.ts <database file> trace|span');
}
const committer = createCommitter(path);
const answer = Buffer.from('{"message":"Trace received successfully."}');
const answerHeaders = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => collect(chunks, response));
});

function collect(chunks: Buffer[], response: ServerResponse): void {
  const first = chunks[0];
  const text = (chunks.length === 1 && first ? first : Buffer.concat(chunks)).toString('utf8');
  const trace: Trace = JSON.parse(text);
  const rows =
    mode === 'trace'
      ? [{ id: trace.trace_id, body: text }]
      : trace.spans.map((span) => ({ id: span.span_id, body: JSON.stringify(span) }));
  committer.add(rows, () => {
    response.writeHead(200, answerHeaders);
    response.end(answer);
  });
}

server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
