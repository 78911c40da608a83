/**
 * Loads the Connect router with the first request that needs it: JSON and unary gRPC do not, and it costs an idle process
 * 15 MiB and a fifth of its start time.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { unavailableFault } from '../domain/fault.ts';
import type { ConnectDeps } from './connect.ts';
import { familyOfPath, faultResponse } from './rest/errors.ts';
import { type RestRequest, type RestResponse, respond } from './rest/exchange.ts';
import { isRpcRequest } from './rpc-request.ts';
import type { HttpHandler } from './server-options.ts';
import { createYieldToEventLoop } from './yield-to-event-loop.ts';

const RETRY_AFTER_SECONDS = 1;

type LazyConnectDeps = ConnectDeps & { readonly log: { error(fields: object, message: string): void } };

export function createLazyConnect(deps: LazyConnectDeps): HttpHandler {
  let serve: HttpHandler | null = null;
  let loading: Promise<HttpHandler> | null = null;
  // Requests that arrived while it was loading would otherwise all start in the same turn of the event loop.
  const yieldToEventLoop = createYieldToEventLoop();

  async function serveOnceLoaded(request: RestRequest, response: RestResponse): Promise<void> {
    try {
      loading ??= load(deps);
      serve = await loading;
    } catch (cause) {
      loading = null;
      deps.log.error({ err: cause }, 'the Connect router could not be loaded');
      refuse(deps, request, response, cause);
      return;
    }
    await yieldToEventLoop();
    serve(request, response);
  }

  return (request, response) => {
    if (!isRpcRequest(request)) deps.fallback(request as RestRequest, response);
    else if (serve) serve(request, response);
    else void serveOnceLoaded(request as RestRequest, response);
  };
}

/** In three turns of the event loop, because each import evaluates all its modules in one turn. */
async function load(deps: LazyConnectDeps): Promise<HttpHandler> {
  await import('@connectrpc/connect');
  await yieldToEventLoop();
  await import('@connectrpc/connect-node');
  await yieldToEventLoop();
  return (await import('./connect.ts')).createConnect(deps);
}

/** Files can be missing under a running process only while it is being replaced. */
function refuse(deps: LazyConnectDeps, request: RestRequest, response: RestResponse, cause: unknown): void {
  const ids = deps.ids.next(() => undefined);
  const fault = unavailableFault('The server is being replaced; try again.', RETRY_AFTER_SECONDS, cause);
  respond(request, response, ids, faultResponse(fault, familyOfPath(request.url ?? ''), ids));
}
