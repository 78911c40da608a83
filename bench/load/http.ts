import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createResponseReader } from './http-response.ts';
import { createMeter, type LoadResult, type Meter, type Stop, withinDeadline } from './meter.ts';
import { createStreamedReader } from './streamed-response.ts';

/** The requests of one connection. */
export type RequestSource = {
  /** The next request, head and body, in one buffer that is valid until the next call. */
  next(): Uint8Array;
  /** Reads the answer, whose bytes are valid only during the call. */
  read?(body: Buffer): void;
};

export type HttpLoad = {
  /** Ports of the servers that share the load evenly. */
  readonly ports: readonly number[];
  readonly connections: number;
  readonly stop: Stop;
  readonly expectedStatus: number;
  /** Creates the source of one connection. */
  readonly createRequests: () => RequestSource;
  /** Answers may come in chunks, and are timed to these bytes of their bodies. By default all have a Content-Length. */
  readonly streamed?: { readonly timed: 'first bytes' | 'last bytes' };
};

const receiveBytes = 65_536;

/**
 * Sends requests over keep-alive connections, each waiting for its answer before the next. Rejects at the first answer
 * with another status and at the first lost connection, because such a run is invalid.
 */
export async function runHttpLoad(load: HttpLoad): Promise<LoadResult> {
  const sockets: Socket[] = [];
  const work = async (): Promise<LoadResult> => {
    const lines = Array.from({ length: load.connections }, (_, index) => {
      const port = load.ports[index % load.ports.length] ?? 0;
      return openLine(load, port, sockets);
    });
    await Promise.all(lines.map((line) => line.connected));
    const meter = createMeter(load.stop);
    const bodies = await Promise.all(lines.map((line) => line.run(meter)));
    return meter.result(bodies[0] ?? Buffer.alloc(0));
  };
  return withinDeadline(load.stop, work(), () => {
    for (const socket of sockets) socket.destroy();
  });
}

type Line = { connected: Promise<void>; run(meter: Meter): Promise<Buffer> };

function openLine(load: HttpLoad, port: number, sockets: Socket[]): Line {
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Buffer>();
  // Before the run nothing awaits this promise; `opened` reports the failure then.
  ended.promise.catch(() => {});
  let receive: (bytes: Buffer) => void = () => fail(new Error('The server spoke before it was asked.'));

  function fail(error: Error): void {
    opened.reject(error);
    ended.reject(error);
  }

  // One reused receive buffer per connection saves an allocation per answer.
  const onread = {
    buffer: Buffer.alloc(receiveBytes),
    callback(length: number, buffer: Uint8Array): boolean {
      try {
        receive(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
      return true;
    },
  };
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
  sockets.push(socket);
  socket.on('connect', () => opened.resolve());
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The server closed a connection under load.')));

  return {
    connected: opened.promise,
    run(meter) {
      const source = load.createRequests();
      let firstBody: Buffer | null = null;
      let sentAt = 0;
      const send = (): void => {
        if (!meter.take()) {
          ended.resolve(firstBody ?? Buffer.alloc(0));
          return;
        }
        sentAt = performance.now();
        socket.write(source.next());
      };
      const noteFirst = load.streamed?.timed === 'first bytes';
      const readAnswer = (status: number, body: Buffer): void => {
        if (status !== load.expectedStatus) {
          throw new Error(`Expected status ${load.expectedStatus}, got ${status}: ${body.toString('utf8', 0, 400)}`);
        }
        if (!noteFirst) meter.note(sentAt);
        firstBody ??= Buffer.from(body);
        source.read?.(body);
        send();
      };
      receive =
        load.streamed === undefined
          ? createResponseReader(readAnswer)
          : createStreamedReader(readAnswer, () => {
              if (noteFirst) meter.note(sentAt);
            });
      send();
      return ended.promise;
    },
  };
}
