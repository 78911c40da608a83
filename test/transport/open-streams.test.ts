import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.js';
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
} from '../../gen/grpc/reflection/v1/reflection_pb.js';
import { createReflection } from '../../src/transport/reflection.ts';
import { METHODS, type Port, startPort, until } from '../support/port.ts';

const WATCHES_PER_CONNECTION = 16;
const WATCHES_PER_ADDRESS = 250;
const REFLECTIONS_PER_CONNECTION = 4;
const CALLS_PER_STREAM = 200;

let port: Port;
beforeAll(async () => {
  port = await startPort();
});
afterAll(() => port.drain(0));

type Open = (localAddress: string) => Transport;

/** Each opens its own connection. */
const TRANSPORTS: { readonly [name: string]: Open } = {
  gRPC: (localAddress) => createGrpcTransport({ baseUrl: port.address, nodeOptions: from(localAddress) }),
  'gRPC-Web': (localAddress) =>
    createGrpcWebTransport({ baseUrl: port.address, httpVersion: '2', nodeOptions: from(localAddress) }),
  Connect: (localAddress) =>
    createConnectTransport({ baseUrl: port.address, httpVersion: '2', nodeOptions: from(localAddress) }),
};

function from(localAddress: string) {
  return { createConnection: () => connectTcp({ port: port.port, host: '127.0.0.1', localAddress }) };
}

/** Aborts after the test. */
function openSignal(): AbortSignal {
  const open = new AbortController();
  onTestFinished(() => open.abort());
  return open.signal;
}

/** Returns the first status or the refusal's code. The stream stays open until the signal. */
function holdWatch(transport: Transport, signal: AbortSignal): Promise<string> {
  const messages = createClient(Health, transport).watch({}, { signal })[Symbol.asyncIterator]();
  return messages.next().then(
    ({ value }) => Status[value?.status ?? 0] ?? 'no status',
    (error: unknown) => codeOf(error),
  );
}

function holdReflection(transport: Transport, signal: AbortSignal): Promise<string> {
  async function* questions() {
    yield { messageRequest: { case: 'listServices' as const, value: '' } };
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  const answers = createClient(ServerReflection, transport).serverReflectionInfo(questions(), { signal });
  return answers[Symbol.asyncIterator]()
    .next()
    .then(
      ({ value }) => value?.messageResponse.case ?? 'ended',
      (error: unknown) => codeOf(error),
    );
}

function codeOf(error: unknown): string {
  return Code[ConnectError.from(error).code] ?? 'no code';
}

function countOf(answers: readonly string[], wanted: string): number {
  return answers.filter((answer) => answer === wanted).length;
}

describe.each(Object.keys(TRANSPORTS))('over %s', (name) => {
  const open = (localAddress = '127.0.0.1') => {
    const transport = TRANSPORTS[name]?.(localAddress);
    if (!transport) throw new Error(`no transport ${name}`);
    return transport;
  };

  it('one connection holds a few watches of health, and closing one frees a slot', async () => {
    const transport = open();
    const signal = openSignal();
    const last = new AbortController();
    const held = await Promise.all(
      Array.from({ length: WATCHES_PER_CONNECTION - 1 }, () => holdWatch(transport, signal)),
    );
    expect(countOf(held, 'SERVING')).toBe(WATCHES_PER_CONNECTION - 1);
    expect(await holdWatch(transport, last.signal)).toBe('SERVING');
    expect(await holdWatch(transport, signal)).toBe('ResourceExhausted');
    last.abort();
    let served = false;
    await until(() => {
      void holdWatch(transport, signal).then((answer) => {
        served ||= answer === 'SERVING';
      });
      return served;
    }, 'a place is free');
  });

  it('one address holds at most a quarter of all watches, and another is served', async () => {
    const signal = openSignal();
    const connections = Math.ceil(WATCHES_PER_ADDRESS / WATCHES_PER_CONNECTION) + 1;
    const answers = await Promise.all(
      Array.from({ length: connections }, () => open('127.0.0.2')).flatMap((transport) =>
        Array.from({ length: WATCHES_PER_CONNECTION }, () => holdWatch(transport, signal)),
      ),
    );
    expect(countOf(answers, 'SERVING')).toBe(WATCHES_PER_ADDRESS);
    expect(countOf(answers, 'ResourceExhausted')).toBe(answers.length - WATCHES_PER_ADDRESS);
    expect(await holdWatch(open('127.0.0.3'), signal)).toBe('SERVING');
    expect((await createClient(Health, open('127.0.0.2')).check({})).status).toBe(Status.SERVING);
  });

  it('one connection holds a few streams of reflection', async () => {
    const transport = open();
    const signal = openSignal();
    const held = await Promise.all(
      Array.from({ length: REFLECTIONS_PER_CONNECTION }, () => holdReflection(transport, signal)),
    );
    expect(new Set(held)).toEqual(new Set(['listServicesResponse']));
    expect(await holdReflection(transport, signal)).toBe('ResourceExhausted');
    expect(await holdReflection(open(), signal)).toBe('listServicesResponse');
  });

  it('a stream of reflection takes a bounded number of questions', async () => {
    async function* questions() {
      for (let sent = 0; sent <= CALLS_PER_STREAM; sent += 1) {
        yield { messageRequest: { case: 'fileByFilename' as const, value: 'spandrel/v1/options.proto' } };
      }
    }
    let answers = 0;
    const stream = async () => {
      for await (const _ of createClient(ServerReflection, open()).serverReflectionInfo(questions())) answers += 1;
    };
    await expect(stream()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(answers).toBe(CALLS_PER_STREAM);
  });

  it('a question that is longer than any name is refused', async () => {
    async function* questions() {
      yield { host: 'h'.repeat(3_000), messageRequest: { case: 'listServices' as const, value: '' } };
    }
    const stream = async () => {
      for await (const _ of createClient(ServerReflection, open()).serverReflectionInfo(questions())) break;
    };
    await expect(stream()).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });
});

it('questions of a client that takes no answer are not answered ahead', async () => {
  const session = connectHttp2(port.address, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => session.destroy());
  const before = process.memoryUsage().arrayBuffers;
  const stream = session.request({
    ':method': 'POST',
    ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    'content-type': 'application/grpc',
  });
  stream.on('error', () => {});
  await once(session, 'remoteSettings');
  const question = create(ServerReflectionRequestSchema, {
    messageRequest: { case: 'fileContainingSymbol', value: 'spandrel.v1.TraceService' },
  });
  const message = toBinary(ServerReflectionRequestSchema, question);
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  stream.write(Buffer.concat(Array.from({ length: CALLS_PER_STREAM }, () => frame)));
  await once(stream, 'response');
  // Gives the server time to answer ahead.
  const health = createClient(Health, createGrpcTransport({ baseUrl: port.address }));
  for (let round = 0; round < 50; round += 1) expect((await health.check({})).status).toBe(Status.SERVING);
  // As many answers would take tens of megabytes.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
});

it('a file is serialised once for all clients and queries', () => {
  const reflect = createReflection([...new Set(METHODS.map(({ desc }) => desc.parent))]);
  const bytesOf = (question: ServerReflectionRequest['messageRequest']) => {
    const answer = reflect(question);
    if (answer.case !== 'fileDescriptorResponse') throw new Error(`answered ${answer.case}`);
    return answer.value.fileDescriptorProto;
  };
  const byName = bytesOf({ case: 'fileByFilename', value: 'spandrel/v1/traces.proto' });
  const bySymbol = bytesOf({ case: 'fileContainingSymbol', value: 'spandrel.v1.TraceService' });
  expect(bySymbol.length).toBeGreaterThan(3);
  expect(bySymbol.every((bytes, index) => bytes === byName[index])).toBe(true);
  const other = bytesOf({ case: 'fileByFilename', value: 'spandrel/v1/events.proto' });
  expect(other.filter((bytes) => byName.includes(bytes)).length).toBeGreaterThan(1);
});
