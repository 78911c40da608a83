/** One HTTP exchange on its way through the Connect library, and back. */

import { type ConnectError, type ContextValues, createContextKey } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import type { CallIds } from '../rpc/method.ts';
import type { HttpHandler } from './server.ts';

export type Exchange = {
  readonly request: Parameters<HttpHandler>[0];
  readonly response: Parameters<HttpHandler>[1];
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  /** Rejects whoever waits for the rest of the body. */
  readonly bodyEnd: PromiseWithResolvers<never>;
};

export const exchangeKey = createContextKey<Exchange | null>(null);

/**
 * What connectNodeAdapter would do, except that its log has a line for every client that hangs up, and that a
 * deadline could not reach a body that does not come.
 */
export async function runExchange(handler: UniversalHandler, exchange: Exchange, values: ContextValues): Promise<void> {
  const { request, response } = exchange;
  exchange.bodyEnd.promise.catch(() => {});
  try {
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    const body = readUntilStopped(request, exchange.bodyEnd.promise);
    await universalResponseToNodeResponse(await handler({ ...universal, body }), response);
  } catch (error) {
    if (!isHangUp(error)) process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}

async function* readUntilStopped(request: Exchange['request'], stopped: Promise<never>): AsyncGenerator<Uint8Array> {
  // Leaving early must not take the connection along, which still has to carry the answer.
  const chunks = request.iterator({ destroyOnReturn: false });
  for (;;) {
    const next: IteratorResult<Uint8Array> = await Promise.race([chunks.next(), stopped]);
    if (next.done) return;
    yield next.value;
  }
}

/** Errors of streams and sockets carry a code of Node's; bugs do not. */
function isHangUp(error: unknown): boolean {
  const cause = (error as ConnectError).cause ?? error;
  return typeof (cause as NodeJS.ErrnoException).code === 'string';
}
