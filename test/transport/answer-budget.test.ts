import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GOOD, type Port, type PortOptions, startPort, until } from '../support/port.ts';

const PATH = '/api/traces/trace-1';
const RPC = '/spandrel.v1.TraceService/GetTrace';
const MIB = 1_048_576;
const EMPTY_MESSAGE = Buffer.alloc(5);
const GET = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${GOOD.authorization}\r\n\r\n`;

/**
 * More than kernel buffers hold for a client that does not read; other clients have an own window, and read nothing.
 */
const answerBytesOver = (name: string) => (name.startsWith('HTTP/1.1') ? 4 * MIB : MIB);
/** Room for four answers, so one per caller. */
const budgetOf = (answerBytes: number) => 4 * (answerBytes + 65_536);

/** Starts a server whose traces are one large text. */
async function start(options: PortOptions = {}, answerBytes = MIB): Promise<Port> {
  const asciiTree = 'x'.repeat(answerBytes);
  const port = await startPort({
    fallback: 'rest',
    quotas: { responseBytes: budgetOf(answerBytes) },
    serve: () => ({ view: { case: 'trace', value: { metadataJson: '{}', asciiTree } } }),
    ...options,
  });
  onTestFinished(() => port.drain(0));
  return port;
}

type Reader = { readonly close: () => void };

/** Clients that send requests and read no answers. */
const GREEDY: { readonly [name: string]: (port: Port) => Reader } = {
  'HTTP/1.1, requests sent ahead': ({ port }) => {
    const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {});
    socket.pause();
    socket.write(GET.repeat(100));
    return { close: () => socket.destroy() };
  },
  'HTTP/1.1, many connections': ({ port }) => {
    const sockets = Array.from({ length: 30 }, () => connectTcp({ port, host: '127.0.0.1' }).on('error', () => {}));
    for (const socket of sockets) socket.pause().write(GET);
    return { close: () => sockets.forEach((socket) => void socket.destroy()) };
  },
  'HTTP/2': (port) => greedySession(port, { ':path': PATH, ':method': 'GET' }),
  gRPC: (port) => greedySession(port, { ':path': RPC, ':method': 'POST', 'content-type': 'application/grpc' }),
  Connect: (port) => greedySession(port, { ':path': RPC, ':method': 'POST', 'content-type': 'application/proto' }),
};

function greedySession({ address }: Port, headers: { readonly [name: string]: string }): Reader {
  const session = connectHttp2(address, { settings: { initialWindowSize: 0 } }).on('error', () => {});
  for (let count = 0; count < 40; count += 1) {
    const stream = session.request({ ...headers, ...GOOD }).on('error', () => {});
    if (headers[':method'] === 'GET') stream.end();
    else stream.end(headers['content-type'] === 'application/grpc' ? EMPTY_MESSAGE : '');
  }
  return { close: () => session.destroy() };
}

describe('answers that are not read', () => {
  it.each(Object.keys(GREEDY))(
    'over %s stay within the budget of one caller, and go with the connection',
    async (name) => {
      const answerBytes = answerBytesOver(name);
      const port = await start({}, answerBytes);
      let most = 0;
      const reader = GREEDY[name]?.(port);
      // Kernel buffers take the first answers of HTTP/1.1, so the budget fills only after a while.
      let refused = await fetch(port.address + PATH, { headers: GOOD });
      const deadlineMs = performance.now() + 20_000;
      while (refused.status === 200 && performance.now() < deadlineMs) {
        most = Math.max(most, port.held().responseBytes);
        await refused.arrayBuffer();
        refused = await fetch(port.address + PATH, { headers: GOOD });
      }
      // The address has used its share, so its next request gets Retry-After.
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      await until(() => port.inFlight() === 0, 'every call has ended');
      expect(Math.max(most, port.held().responseBytes)).toBeLessThanOrEqual(budgetOf(answerBytes) / 4);
      reader?.close();
      await until(() => port.held().responseBytes === 0, 'nothing is held');
      const taken = await fetch(port.address + PATH, { headers: GOOD });
      expect((await taken.arrayBuffer()).byteLength).toBeGreaterThan(answerBytes);
      await until(() => port.held().responseBytes === 0, 'the answer was taken');
    },
  );

  it.each(Object.keys(GREEDY))('over %s are cut after a while', async (name) => {
    const answerBytes = answerBytesOver(name);
    const answerTimes = { graceMs: 300, bytesPerSecondMin: 16 * answerBytes };
    const port = await start({ answerTimes }, answerBytes);
    const reader = GREEDY[name]?.(port);
    onTestFinished(() => reader?.close());
    await until(() => port.held().responseBytes > 0, 'an answer waits');
    await until(() => port.held().responseBytes === 0, 'it is cut');
  });
});

describe('pipelined requests on one HTTP/1.1 connection', () => {
  it('are served one at a time, in order', async () => {
    let running = 0;
    let most = 0;
    const port = await start({
      serve: async (_, message) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        return {
          view: {
            case: 'trace',
            value: { metadataJson: '{}', traceId: (message as unknown as { traceId: string }).traceId },
          },
        };
      },
    });
    const names = Array.from({ length: 60 }, (_, index) => `trace-${index}`);
    const answers = await sendAhead(port, names);
    expect(answers.map((body) => JSON.parse(body).trace_id)).toEqual(names);
    expect(most).toBe(1);
  });

  it('beyond what may wait stay unanswered, and the connection says so', async () => {
    const port = await start({ serve: () => ({ view: { case: 'trace', value: { metadataJson: '{}' } } }) });
    const answers = await sendAhead(
      port,
      Array.from({ length: 600 }, (_, index) => `trace-${index}`),
    );
    expect(answers.length).toBeGreaterThan(100);
    expect(answers.length).toBeLessThan(600);
    expect(port.inFlight()).toBe(0);
  });
});

/** Pipelines requests; returns the bodies of the answers until the connection ends. */
async function sendAhead(port: Port, ids: readonly string[]): Promise<readonly string[]> {
  const socket = connectTcp({ port: port.port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  let text = '';
  let ended = false;
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      ended = true;
    });
  const head = `Host: x\r\nAuthorization: ${GOOD.authorization}\r\n\r\n`;
  socket.write(ids.map((id) => `GET /api/traces/${id} HTTP/1.1\r\n${head}`).join(''));
  const bodies = () => [...text.matchAll(/\r\n\r\n(\{.*?\})(?=HTTP|$)/g)].map((match) => match[1] ?? '');
  await until(() => ended || bodies().length >= ids.length, 'every answer is there');
  return bodies();
}
