/** A webhook receiver that records every request and answers as a test decides. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

export type Push = {
  /** The path of the URL, which identifies the endpoint. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As received. */
  readonly body: Buffer;
  /** When the body was complete; wall clock. */
  readonly atMs: number;
  readonly dispatchId: string;
  readonly attempt: number;
  readonly eventIds: readonly string[];
  /** `created` of the events, in order. */
  readonly createdAtMs: readonly number[];
  /** The status answered; null: none, or none yet. */
  status: number | null;
};

export type Reaction =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly delayMs?: number;
      readonly headers?: { readonly [name: string]: string };
    }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Resets the connection. */
  | { readonly kind: 'reset'; readonly delayMs?: number }
  /** Calls `serve`. */
  | { readonly kind: 'other'; readonly serve: (response: ServerResponse) => void };

export const TAKEN: Reaction = { kind: 'answer', status: 200 };

export type Receiver = {
  readonly port: number;
  url(path: string): string;
  /** Every request so far, in the order of completion. */
  readonly pushes: readonly Push[];
  of(path: string): readonly Push[];
  /** Called for every request. */
  react: (push: Push) => Reaction;
  /** The number of open requests. */
  inProgress(): number;
  /** The highest number of open requests at once. */
  peakOf(path: string): number;
  close(): Promise<void>;
};

export async function startReceiver(react: (push: Push) => Reaction = () => TAKEN): Promise<Receiver> {
  const pushes: Push[] = [];
  const current = new Map<string, number>();
  const peaks = new Map<string, number>();

  function enter(path: string): () => void {
    const now = (current.get(path) ?? 0) + 1;
    current.set(path, now);
    peaks.set(path, Math.max(peaks.get(path) ?? 0, now));
    return () => void current.set(path, (current.get(path) ?? 1) - 1);
  }

  const server = createServer(async (request, response) => {
    const leave = enter(request.url ?? '');
    // Node reports the end of a response exactly once, however it ends.
    response.once('close', leave);
    const push = await readPush(request);
    if (push === null) return;
    pushes.push(push);
    treat(push, response, receiver.react(push));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const { port } = address;

  const receiver: Receiver = {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    pushes,
    of: (path) => pushes.filter((push) => push.path === path),
    react,
    inProgress: () => [...current.values()].reduce((sum, each) => sum + each, 0),
    peakOf: (path) => peaks.get(path) ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

function treat(push: Push, response: ServerResponse, reaction: Reaction): void {
  if (reaction.kind === 'other') reaction.serve(response);
  else if (reaction.kind === 'reset') later(reaction.delayMs, () => response.socket?.resetAndDestroy());
  else if (reaction.kind === 'answer') {
    later(reaction.delayMs, () => {
      if (response.destroyed) return;
      push.status = reaction.status;
      response.writeHead(reaction.status, reaction.headers ?? {}).end('noted');
    });
  }
}

function later(delayMs: number | undefined, act: () => void): void {
  if (delayMs === undefined || delayMs === 0) act();
  else setTimeout(act, delayMs).unref();
}

/** Null when the sender disconnected before the end of the body. */
async function readPush(request: IncomingMessage): Promise<Push | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  const body = Buffer.concat(chunks);
  const batch: readonly { readonly id: string; readonly created: string }[] = JSON.parse(body.toString()).batch;
  const { headers } = request;
  return {
    path: request.url ?? '',
    headers,
    body,
    atMs: Date.now(),
    dispatchId: String(headers['webhook-id']),
    attempt: Number(headers['x-langwatch-delivery-attempt']),
    eventIds: batch.map(({ id }) => id),
    createdAtMs: batch.map(({ created }) => Date.parse(created)),
    status: null,
  };
}
