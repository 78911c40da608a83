/** The limit program of evaluate: node:http around the function that compares two texts. */

import { createServer } from 'node:http';
import { matchExactly } from '../../src/evaluation/builtin/exact-match.ts';
import { endWithParent, sayReady } from './ready.ts';

const settings = { case_sensitive: false, trim_whitespace: true, remove_punctuation: true };

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { data } = JSON.parse(Buffer.concat(parts).toString());
    const organization = { id: 'organization', priceVersion: 0 };
    const owner = { projectId: 'project', organization, isGuardrail: false };
    const run = { ...owner, evaluatorType: 'langevals/exact_match', settings, data };
    const body = Buffer.from(JSON.stringify(matchExactly(run)));
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
