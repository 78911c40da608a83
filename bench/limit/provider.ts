/**
 * A provider of language models for the rows of the gateway: one fixed answer of chat, or a fixed stream whose events come in
 * portions. Its HTTP is by hand, so that it takes little of the machine from what is measured. Usage: node provider.ts
 */

import { createServer, type Socket } from 'node:net';
import { endWithParent, sayReady } from './ready.ts';

const PORTIONS = 4;
const EVENTS_PER_PORTION = 8;
const PORTION_MS = 5;

const HEAD_END = Buffer.from('\r\n\r\n');
const CHUNKS_END = Buffer.from('\r\n0\r\n\r\n');
const STREAM = Buffer.from('"stream":true');

const common = { id: 'chatcmpl-bench', created: 1_790_000_000, model: 'gpt-5-mini-2025-08-07' };
const usage = { prompt_tokens: 57, completion_tokens: PORTIONS * EVENTS_PER_PORTION, total_tokens: 89 };
const message = {
  role: 'assistant',
  content: 'A gateway stands between callers and providers. '.repeat(4),
  refusal: null,
};
const answer = JSON.stringify({
  ...common,
  object: 'chat.completion',
  choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  usage,
});
const whole = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`,
);
const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const portions = Array.from({ length: PORTIONS }, (_, index) => {
  const events = Array.from({ length: EVENTS_PER_PORTION }, () => toEvent({ content: ' token' }, null));
  if (index === 0) events.unshift(toEvent({ role: 'assistant', content: '' }, null));
  if (index < PORTIONS - 1) return Buffer.from((index === 0 ? streamHead : '') + toChunk(events.join('')));
  const end = [toEvent({}, 'stop'), `data: ${chunkOf([], { usage })}\n\n`, 'data: [DONE]\n\n'];
  return Buffer.from(`${toChunk([...events, ...end].join(''))}0\r\n\r\n`);
});

function toEvent(delta: object, finish_reason: string | null): string {
  return `data: ${chunkOf([{ index: 0, delta, logprobs: null, finish_reason }], { usage: null })}\n\n`;
}

function chunkOf(choices: readonly object[], more: object): string {
  return JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more });
}

function toChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Where the request ends in the received bytes; -1: not yet. */
function endOf(received: Buffer): number {
  const head = received.indexOf(HEAD_END);
  if (head < 0) return -1;
  const body = head + HEAD_END.length;
  const text = received.toString('latin1', 0, head);
  if (/\r\ntransfer-encoding: *chunked/i.test(text)) {
    const last = received.indexOf(CHUNKS_END, head);
    return last < 0 ? -1 : last + CHUNKS_END.length;
  }
  const end = body + Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
  return received.length < end ? -1 : end;
}

function serve(socket: Socket): void {
  let received: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    for (let end = endOf(received); end >= 0; end = endOf(received)) {
      const request = received.subarray(0, end);
      received = received.subarray(end);
      if (request.includes(STREAM)) sendPortion(socket, 0);
      else socket.write(whole);
    }
  });
}

function sendPortion(socket: Socket, index: number): void {
  const portion = portions[index];
  if (portion === undefined || socket.destroyed) return;
  socket.write(portion);
  setTimeout(sendPortion, PORTION_MS, socket, index + 1);
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => sayReady(server.address()));
endWithParent();
