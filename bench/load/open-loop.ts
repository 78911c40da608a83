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
      // The bytes stay as they are only until the next call, and a full socket keeps them for longer.
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
      // It is at rest, and nobody listens to the promise of the last answer any more.
      socket
        .removeAllListeners('close')
        .on('error', () => {})
        .destroy();
    },
  };
}
