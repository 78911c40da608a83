import { connect } from 'node:net';
import type { RequestSource } from './http.ts';
import { createResponseReader } from './http-response.ts';

/** Sends requests when they are due, however long the answers to others take. */
export type OpenLoop = {
  /** Resolves with the answer of status 200; rejects with any other. */
  send(): Promise<void>;
  close(): void;
};

type Line = { ask(request: Uint8Array): Promise<void>; close(): void };

export function createOpenLoop(port: number, source: RequestSource): OpenLoop {
  const lines: Line[] = [];
  const idle: Line[] = [];

  return {
    async send() {
      const line = idle.pop() ?? openLine(port, source);
      if (!lines.includes(line)) lines.push(line);
      // Copies the bytes: they are valid only until the next call, and the socket may send later.
      await line.ask(Buffer.from(source.next()));
      idle.push(line);
    },
    close() {
      for (const line of lines) line.close();
    },
  };
}

function openLine(port: number, { read }: RequestSource): Line {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let answered = Promise.withResolvers<void>();
  const take = createResponseReader((status, body) => {
    if (status !== 200) return answered.reject(new Error(`Expected status 200, got ${status}: ${body}`));
    read?.(body);
    answered.resolve();
  });
  socket.on('data', take);
  socket.on('error', (error) => answered.reject(error));
  socket.on('close', () => answered.reject(new Error('The server closed a connection under load.')));
  return {
    ask(request) {
      answered = Promise.withResolvers<void>();
      socket.write(request);
      return answered.promise;
    },
    close() {
      // The line is idle, and nothing awaits its last promise any more.
      socket
        .removeAllListeners('close')
        .on('error', () => {})
        .destroy();
    },
  };
}
