import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { fromBinary } from '@bufbuild/protobuf';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ErrorInfoSchema } from '../../gen/google/rpc/error_details_pb.js';
import { readStatus } from '../support/error-info.ts';
import { GOOD, type Port, startPort, until } from '../support/port.ts';

const PATH = '/spandrel.v1.TraceService/GetTrace';

async function start(): Promise<Port> {
  const port = await startPort({ limits: { bodyGapTimeoutMs: 200 } });
  onTestFinished(() => port.drain(0));
  return port;
}

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };
type Ask = (port: Port, headers: { readonly [name: string]: string }) => Promise<Answer>;

/** Sends one byte of a body and no more. */
const ASKS: { readonly [version: string]: Ask } = {
  async 'HTTP/1.1'({ port }, headers) {
    const lines = Object.entries({ host: 'x', 'content-length': '99', ...headers }).map(([n, v]) => `${n}: ${v}`);
    const socket = connectTcp(port, '127.0.0.1');
    let received = '';
    let isClosed = false;
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', () => {}).on('close', () => (isClosed = true));
    socket.write(`${[`POST ${PATH} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n{`);
    await until(() => isClosed, 'the connection is closed');
    const [head = '', text = ''] = received.split('\r\n\r\n');
    const [first = '', ...rest] = head.split('\r\n');
    const pairs = rest.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
    return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(pairs), text };
  },
  async 'HTTP/2'({ address }, headers) {
    const session = connectHttp2(address);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ':path': PATH, ...headers }, { endStream: false });
    let answered: IncomingHttpHeaders = {};
    let text = '';
    stream.on('error', () => {}).on('response', (sent) => (answered = sent));
    stream.on('data', (chunk) => (text += chunk)).write('{');
    await until(() => stream.closed, 'the stream is closed');
    expect(stream.rstCode).toBe(0);
    return { status: Number(answered[':status']), headers: answered, text };
  },
};

const SENT = { ...GOOD, 'x-request-id': 'late-1' };

describe.each(Object.entries(ASKS))('over %s a body that comes too late', (version, ask) => {
  it('is answered in Connect to Connect', async () => {
    const answer = await ask(await start(), { ...SENT, 'content-type': 'application/json' });
    expect(answer).toMatchObject({ status: 504, headers: { 'content-type': 'application/json' } });
    const body = JSON.parse(answer.text);
    expect(body).toMatchObject({ code: 'deadline_exceeded', message: 'The request did not arrive in time.' });
    const [detail] = body.details;
    expect([detail.type, body.details.length]).toEqual(['google.rpc.ErrorInfo', 1]);
    const info = fromBinary(ErrorInfoSchema, Buffer.from(detail.value, 'base64'));
    expect(info).toMatchObject({ reason: 'REQUEST_TIMEOUT', domain: 'spandrel' });
    expect(answer.headers['x-request-id']).toBe('late-1');
  });

  it.each(version === 'HTTP/2' ? ['application/grpc-web+proto', 'application/grpc'] : ['application/grpc-web+proto'])(
    'is answered in trailers to %s',
    async (type) => {
      const sent = { ...SENT, 'content-type': type, 'grpc-encoding': 'gzip', te: 'trailers' };
      const { status, headers, text } = await ask(await start(), sent);
      expect([status, headers['content-type'], text]).toEqual([200, type, '']);
      expect(headers).toMatchObject({ 'grpc-status': '4', 'x-request-id': 'late-1' });
      const { info } = readStatus(Buffer.from(String(headers['grpc-status-details-bin']), 'base64'));
      expect(info.code).toBe('request_timeout');
    },
  );
});
