import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { until } from '../support/port.ts';

let app: TestApp;
let session: ClientHttp2Session;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
  session = connectHttp2(app.address);
});
afterAll(async () => {
  session.destroy();
  await app.close();
});

const headersOf = (path: string, more: object = {}) => ({
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/json',
  ...more,
});

/** The response, and the code with which the stream ended. */
async function ended(stream: ClientHttp2Stream) {
  let text = '';
  let status: unknown;
  let length = 0;
  stream
    .on('error', () => {})
    .on('data', (chunk) => {
      text += chunk;
    });
  stream.once('response', (headers) => {
    status = headers[':status'];
    length = Number(headers['content-length']);
  });
  // Not its event, which waits until the client has written everything.
  await until(() => stream.closed, 'the stream is closed', 5_000);
  return { status, length, text, code: stream.rstCode };
}

describe('over HTTP/2 a refusal before the body is read', () => {
  it.each([
    ['/api/collector', {}, 401],
    ['/api/nope', {}, 404],
    ['/api/collector', { 'content-length': String(1 << 30) }, 413],
    ['/v1/chat/completions', {}, 401],
    ['/v1/nope', {}, 404],
    ['/mcp', {}, 401],
    ['/api/auth/session', { ':method': 'HEAD' }, 401],
  ])('stops the client that still sends (%s %o)', async (path, more, status) => {
    const stream = session.request(headersOf(path, more), { endStream: false });
    stream.write(Buffer.alloc(40_000, ' '));
    const answer = await ended(stream);
    expect(answer).toMatchObject({ status, code: constants.NGHTTP2_NO_ERROR });
    if (!(':method' in more)) expect(Buffer.byteLength(answer.text)).toBe(answer.length);
    expect(session.destroyed).toBe(false);
  });

  it('arrives whole where the client sends as fast as it can', async () => {
    const stream = session.request(headersOf('/api/collector'), { endStream: false });
    const send = () => {
      while (!stream.closed && stream.write(Buffer.alloc(16_384, ' ')));
    };
    stream.on('drain', send);
    send();
    const { status, text } = await ended(stream);
    expect(status).toBe(401);
    expect(JSON.parse(text).code).toBe('missing_credentials');
  });

  it('leaves a client alone that has sent everything', async () => {
    const stream = session.request(headersOf('/api/collector'));
    stream.end(Buffer.alloc(20_000, ' '));
    const { status, text, code } = await ended(stream);
    expect([status, code]).toEqual([401, constants.NGHTTP2_NO_ERROR]);
    expect(JSON.parse(text).code).toBe('missing_credentials');
  });
});
