/**
 * Posts webhooks in a loop to a receiver, without storage, with the product's HTTP client or with that of Node. Both
 * connect only to an address that the policy allows, keep connections open, and end an attempt after 10 s.
 * Usage: node post.ts own|node <port> <requests in flight>
 */

import { Agent, request } from 'node:http';
import { connect, type TcpNetConnectOpts } from 'node:net';
import { createHttpSender } from '../../src/delivery/http.ts';
import type { OutgoingMessage } from '../../src/domain/endpoints/destination.ts';
import { parseAllowList } from '../../src/domain/endpoints/url-allow-list.ts';
import { createUrlPolicy } from '../../src/domain/endpoints/url-policy.ts';
import { endWithParent, sayReady } from './ready.ts';

const [client, ...numbers] = process.argv.slice(2);
const [port, inFlight] = numbers.map(Number);
if ((client !== 'own' && client !== 'node') || !port || !inFlight) {
  throw new Error('Usage: node post.ts own|node <port> <requests in flight>');
}
const host = '127.0.0.1';
const url = `http://${host}:${port}/`;
const deadlineMs = 10_000;
const bodyMaxBytes = 65_536;
const filler = 'x'.repeat(900);
const message: OutgoingMessage = {
  dispatchId: 'webhookendpoint_0005p2syRelBzOqqEi3ft3bFhpiQC:0000000000000001',
  attempt: 1,
  timestamp: 1_785_160_991,
  signatures: { standard: `v1,${'A'.repeat(44)}`, langwatch: `t=1785160991,v1=${'a'.repeat(64)}` },
  body: Buffer.from(`{"batch":[{"id":"gw-1:completed","schema_version":"1","data":{"filler":"${filler}"}}]}`),
  test: false,
};
const allowed = parseAllowList(host);
if (allowed.kind === 'problem') throw new Error(allowed.problem);
const policy = createUrlPolicy(allowed.entries);

/** Resolves to the status of the response. */
type Post = () => Promise<number | null>;

function createOwnClient(): Post {
  const sender = createHttpSender({
    policy,
    resolve: () => Promise.reject(new Error('The address is a literal.')),
    nowMs: () => performance.now(),
    clock: Date.now,
    userAgentVersion: '0',
  });
  const never = new AbortController().signal;
  return async () => (await sender.send(url, message, never)).responseStatus;
}

function createNodeClient(): Post {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight ?? 1, maxFreeSockets: inFlight ?? 1 });
  agent.createConnection = (options) => {
    const check = policy.checkUrl(url);
    if (check.kind === 'refused' || !policy.mayReach(check.target, [host])) throw new Error('refused');
    return connect({ ...(options as TcpNetConnectOpts), host, noDelay: true });
  };
  const { dispatchId, attempt, timestamp, signatures, body } = message;
  const headers = {
    'User-Agent': 'Spandrel-Webhooks/0',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'webhook-id': dispatchId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.standard,
    'X-LangWatch-Signature': signatures.langwatch,
    'X-LangWatch-Delivery-Id': dispatchId,
    'X-LangWatch-Delivery-Attempt': attempt,
  };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request({ agent, host, port, path: '/', method: 'POST', headers, maxHeaderSize: 16_384 });
      const deadline = setTimeout(() => sent.destroy(new Error('too late')), deadlineMs);
      sent.on('error', reject);
      sent.on('response', (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > bodyMaxBytes) sent.destroy(new Error('too long'));
        });
        response.on('end', () => {
          clearTimeout(deadline);
          resolve(response.statusCode ?? null);
        });
      });
      sent.end(body);
    });
}

async function repeat(post: Post): Promise<never> {
  for (;;) {
    const status = await post();
    if (status !== 200) throw new Error(`The receiver answered ${status}.`);
  }
}

const post = client === 'own' ? createOwnClient() : createNodeClient();
for (let count = 0; count < inFlight; count += 1) void repeat(post);
sayReady(port);
endWithParent();
