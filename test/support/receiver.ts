/** A receiver of webhooks that keeps account of all that comes, and treats each request as a test wants. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

export type Push = {
  /** Of the url; tells endpoints apart. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came. */
  readonly body: Buffer;
  /** When all of it was there; wall clock. */
  readonly atMs: number;
  readonly dispatchId: string;
  readonly attempt: number;
  readonly eventIds: readonly string[];
  /** Created, of the events, in the same order. */
  readonly createdAtMs: readonly number[];
  /** What the sender was told; null: nothing, or not yet. */
  status: number | null;
};

export type Reaction =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly delayMs?: number;
      readonly headers?: { readonly [name: string]: string };
    }
  /** Says nothing, and holds the line. */
  | { readonly kind: 'hang' }
  /** Cuts the line after a while. */
  | { readonly kind: 'reset'; readonly delayMs?: number }
  /** Does it itself. */
  | { readonly kind: 'other'; readonly serve: (response: ServerResponse) => void };

export const TAKEN: Reaction = { kind: 'answer', status: 200 };

export type Receiver = {
  readonly port: number;
  url(path: string): string;
  /** Every request so far, in the order in which they were complete. */
  readonly pushes: readonly Push[];
  of(path: string): readonly Push[];
  /** Asked anew for every request. */
  react: (push: Push) => Reaction;
  /** Requests that are not answered. */
  inProgress(): number;
  /** Most requests that were in progress at once. */
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
    // Node tells of the end of a response exactly once, however it ends.
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

/** Null when the sender went away before all of it had come. */
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
