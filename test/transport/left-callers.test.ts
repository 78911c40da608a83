/** On every protocol the pipeline learns when the caller has disconnected. */

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { GOOD, type Port, startPort, until } from '../support/port.ts';

const PATH = '/api/traces/trace-1';
const RPC = '/spandrel.v1.TraceService/GetTrace';
const CONNECT = { ':method': 'POST', ':path': RPC, 'content-type': 'application/proto' };
const GRPC = { ...CONNECT, 'content-type': 'application/grpc', te: 'trailers' };

type Caller = { readonly leave: () => void; readonly answered: Promise<unknown> };

const CALLERS: { readonly [name: string]: (port: Port) => Caller } = {
  'REST over HTTP/1.1': (port) => askHttp1(port, `GET ${PATH} HTTP/1.1`),
  'REST over HTTP/2': (port) => askHttp2(port, { ':method': 'GET', ':path': PATH }),
  gRPC: (port) => askHttp2(port, GRPC, Buffer.alloc(5)),
  'gRPC the long way': (port) => askHttp2(port, { ...GRPC, 'grpc-encoding': 'gzip' }, Buffer.alloc(5)),
  'Connect over HTTP/1.1': (port) =>
    askHttp1(port, `POST ${RPC} HTTP/1.1\r\nContent-Type: application/proto\r\nContent-Length: 0`),
  'Connect over HTTP/2': (port) => askHttp2(port, CONNECT),
};

function askHttp1({ port }: Port, head: string): Caller {
  const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {});
  socket.write(`${head}\r\nHost: x\r\nAuthorization: ${GOOD.authorization}\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  return { leave: () => socket.destroy(), answered: once(socket, 'data') };
}

function askHttp2({ address }: Port, headers: { readonly [name: string]: string }, body?: Buffer): Caller {
  const session = connectHttp2(address).on('error', () => {});
  const stream = session.request({ ...headers, ...GOOD }, { endStream: false }).on('error', () => {});
  stream.end(body);
  onTestFinished(() => session.destroy());
  // Only the stream closes: its connection may carry others.
  return { leave: () => stream.close(8), answered: once(stream, 'response') };
}

it.each(Object.keys(CALLERS))('%s', async (name) => {
  const work = Promise.withResolvers<object>();
  const port = await startPort({ fallback: 'rest', serve: () => work.promise });
  onTestFinished(() => port.drain(0));
  const leaving = CALLERS[name]?.(port);
  await until(() => port.decoded() === 1, 'the call is being worked on');
  const left = port.lastCall();
  expect(left?.isDisconnected()).toBe(false);
  leaving?.answered.catch(() => undefined);
  leaving?.leave();
  await until(() => left?.isDisconnected() === true, 'the pipeline knows that the caller has left');
  const staying = CALLERS[name]?.(port);
  await until(() => port.decoded() === 2, 'the next call is being worked on');
  expect(port.lastCall()?.isDisconnected()).toBe(false);
  work.resolve({});
  await staying?.answered;
  await until(() => port.inFlight() === 0 && port.held().responseBytes === 0, 'nothing is left of either');
});
