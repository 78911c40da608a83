/** Answers are read as RFC 9112 asks clients to, however carelessly they are spelled. */

import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createTestSender, readRequest, startRawReceiver } from '../support/http-sending.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 2\r\n\r\n';

const READ: { readonly [name: string]: string } = {
  'a length': `${HEAD}${LENGTH}ok`,
  'no reason': `HTTP/1.1 200\r\n${LENGTH}ok`,
  'an empty value': `${HEAD}A:\r\n${LENGTH}ok`,
  'an empty line first': `\r\n${HEAD}${LENGTH}ok`,
  'lines that end in LF': 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
  'a header folded with a space': `${HEAD}X-Policy: one;\r\n two\r\n${LENGTH}ok`,
  'a header folded with a tab': `${HEAD}X-Policy: one;\r\n\ttwo\r\n${LENGTH}ok`,
  'chunks, extensions and trailers': `${HEAD}Transfer-Encoding: gzip, Chunked\r\n\r\n1\r\no\r\n1;x="\\"y"\r\nk\r\n00\r\nA: b\r\n\r\n`,
  'interim answers': `HTTP/1.1 100 C\r\n\r\nHTTP/1.1 102 P\r\nA: b\r\n\r\n${HEAD}${LENGTH}ok`,
  'an old version': `HTTP/1.0 200 OK\r\n${LENGTH}ok`,
  'an offer of another protocol': `${HEAD}Upgrade: h2c\r\nConnection: upgrade\r\n${LENGTH}ok`,
};

const BAD: { readonly [name: string]: string } = {
  'HTTP/2': `HTTP/2 200 OK\r\n${LENGTH}ok`,
  'HTTP/2.0': `HTTP/2.0 200 OK\r\n${LENGTH}ok`,
  'HTTP/1.2': `HTTP/1.2 200 OK\r\n${LENGTH}ok`,
  'HTTP/0.9': `HTTP/0.9 200 OK\r\n${LENGTH}ok`,
  'two digits': `HTTP/1.1 20 OK\r\n${LENGTH}ok`,
  'four digits': `HTTP/1.1 2000 OK\r\n${LENGTH}ok`,
  'a leading zero': `HTTP/1.1 099 OK\r\n${LENGTH}ok`,
  'a request': 'GET / HTTP/1.1\r\n\r\n',
  'a line without a colon': `${HEAD}notice\r\n${LENGTH}ok`,
  'a header without a name': `${HEAD}: b\r\n${LENGTH}ok`,
  'a NUL in a value': `${HEAD}A: b\0c\r\n${LENGTH}ok`,
  'a CR in a value': `${HEAD}A: b\rContent-Length: 0\r\n${LENGTH}ok`,
  'a negative length': `${HEAD}Content-Length: -1\r\n\r\nok`,
  'a hexadecimal length': `${HEAD}Content-Length: 0x1\r\n\r\nok`,
  'two lengths': `${HEAD}Content-Length: 3\r\n${LENGTH}ok`,
  'a long header': `${HEAD}A: ${'b'.repeat(16_384)}\r\n${LENGTH}ok`,
  'many interim answers': `${'HTTP/1.1 100 C\r\n\r\n'.repeat(1_000)}${HEAD}${LENGTH}ok`,
};

async function attemptAt(write: (socket: Socket) => void) {
  const receiver = await startRawReceiver((socket, received) => {
    if (readRequest(received)) write(socket);
  });
  return await createTestSender().attempt(receiver.url, { test: true });
}

describe('an answer with', () => {
  it.each(Object.keys(READ))('%s is read', async (name) => {
    const answer = Buffer.from(READ[name] ?? '', 'latin1');
    const read = { kind: 'accepted', responseStatus: 200, responseText: 'ok' };
    expect(await attemptAt((socket) => socket.write(answer))).toMatchObject(read);
    const byByte = await attemptAt((socket) => {
      for (const byte of answer) socket.write(Buffer.of(byte));
    });
    expect(byByte).toMatchObject(read);
  });

  it.each(Object.keys(BAD))('%s is none', async (name) => {
    const answer = Buffer.from(BAD[name] ?? '', 'latin1');
    expect(await attemptAt((socket) => socket.write(answer))).toMatchObject({
      kind: 'refused',
      responseStatus: null,
      error: 'bad_response',
    });
  });

  it('no end has the text that came', async () => {
    const result = await attemptAt((socket) => socket.end(`${HEAD}\r\nuntil the end`));
    expect(result).toMatchObject({ kind: 'accepted', responseText: 'until the end' });
  });

  it('broken chunks has its status', async () => {
    const answer = 'HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nno\r\n';
    expect(await attemptAt((socket) => socket.write(answer))).toMatchObject({ error: 'HTTP 500' });
  });
});
