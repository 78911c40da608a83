/** The face of the gateway's data routes: their bodies are those of model providers, so no rpc describes them. */

import { type Fault, unavailableFault } from '../../domain/fault.ts';
import { type GatewayFault, gatewayFault } from '../../domain/gateway/gateway-fault.ts';
import { toFault } from '../../rpc/invoke.ts';
import type { CallIds } from '../../rpc/method.ts';
import type { Quotas, RequestQuota } from '../../rpc/quotas.ts';
import type { IdSource } from '../call-ids.ts';
import type { CallLog } from '../call-log.ts';
import { expectationProblem } from '../expectation.ts';
import { firstHeader } from '../first-header.ts';
import { arrivalOf } from '../origin.ts';
import type { ReadBudget } from '../read-budget.ts';
import { type ResponseWatch, responseSinkOf } from '../response-watch.ts';
import { statusOf } from '../status.ts';
import { checkDeclaredLength, readBody } from './body.ts';
import type { BodyWatch } from './body-watch.ts';
import { checkSizes, discardBody, type HeadLimits, type RestRequest, type RestResponse } from './exchange.ts';
import type { Inflate } from './inflate.ts';
import { splitTarget } from './path.ts';

type Header = (name: string) => string | undefined;

/** What the gateway must offer; `R` is its route. */
type DataRoutes<R> = {
  /** Null: the path belongs to others. */
  readonly routeOf: (method: string, path: string) => R | null;
  /** Never rejects. */
  readonly serve: (call: {
    readonly route: R;
    readonly query: string;
    readonly headers: RestRequest['headers'];
    readonly header: Header;
    readonly response: RestResponse;
    readonly ids: CallIds;
    readonly identify: (keyId: string) => GatewayFault | null;
    readonly holdMemory: (bytes: number) => boolean;
    readonly readBody: () => Promise<Buffer | GatewayFault>;
  }) => Promise<{ readonly status: number; readonly fault: GatewayFault | null; readonly isKnownKey: boolean }>;
};

/** `template`: what metrics and logs call it. */
type Named = { readonly template: string };

type DataRouteDeps<R> = DataRoutes<R> &
  HeadLimits & {
    readonly quotas: Quotas;
    readonly watch: BodyWatch;
    readonly inflate: Inflate;
    readonly reading: ReadBudget;
    readonly ids: IdSource;
    readonly callLog: CallLog;
    readonly responses: ResponseWatch;
    readonly accepting: () => boolean;
  };

export const BODY_MAX_BYTES = 32 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/** Returns whether the request belongs to the gateway, which then answers it. */
export function createDataRoutes<R extends Named>(
  deps: DataRouteDeps<R>,
): (request: RestRequest, response: RestResponse) => boolean {
  async function serve(request: RestRequest, response: RestResponse, route: R, query: string): Promise<void> {
    const header = firstHeader(request.headers, request.rawHeaders);
    const ids: CallIds = deps.ids.next(header);
    const startedAtMs = deps.callLog.nowMs();
    // By key, and not by address: one application server may use many keys.
    const quota = deps.quotas.open({ address: null, hasBody: request.method === 'POST' });
    let isBegun = false;
    const begin = () => {
      if (!deps.accepting()) throw unavailableFault('The server is shutting down; try again.', RETRY_AFTER_SECONDS);
      quota.begin();
      isBegun = true;
    };
    try {
      const { status, fault, isKnownKey } = await deps.serve({
        ...{ route, query, header, headers: request.headers, response, ids },
        identify: (keyId) =>
          refusalOf(() => {
            checkSizes(deps, request);
            const unmet = expectationProblem(request);
            if (unmet) throw unmet;
            begin();
            quota.identify(keyId);
          }),
        holdMemory: (bytes) => holdMemory(quota, bytes),
        readBody: () => read(request, response, quota),
      });
      const about = { transport: 'rest', method: request.method ?? null, path: null, status } as const;
      const caller = isKnownKey ? 'virtual_key' : 'none';
      deps.callLog.ended({
        ...about,
        route: route.template,
        fault,
        caller,
        arrival: arrivalOf(request, false),
        ids,
        startedAtMs,
      });
    } finally {
      if (isBegun) quota.finish();
      if (isBegun) countUnsent(response, quota);
      if (!request.complete) discardBody(request, response);
    }
  }

  /** What a slow caller has still to read counts until then. */
  function countUnsent(response: RestResponse, quota: RequestQuota): void {
    const sink = responseSinkOf(response);
    deps.responses.send({ quota, sink, bytes: sink.writableLength, force: true });
  }

  async function read(
    request: RestRequest,
    response: RestResponse,
    quota: RequestQuota,
  ): Promise<Buffer | GatewayFault> {
    try {
      checkDeclaredLength(request, BODY_MAX_BYTES);
      if (request.headers.expect !== undefined) response.writeContinue();
      const { watch, inflate, reading } = deps;
      const limits = { sizeMaxBytes: BODY_MAX_BYTES, watch, inflate, reading };
      const bytes = await readBody(request, { ...limits, owner: quota.owner, onBytes: quota.receive });
      quota.start();
      return bytes;
    } catch (error) {
      return toGatewayFault(toFault(error));
    }
  }

  return (request, response) => {
    const { path, query } = splitTarget(request.url ?? '/');
    if (!path.startsWith('/v1/')) return false;
    const route = deps.routeOf(request.method ?? 'GET', path);
    if (route === null) return false;
    void serve(request, response, route, query);
    return true;
  };
}

/** A number below zero gives back. */
export function holdMemory(quota: RequestQuota, bytes: number): boolean {
  try {
    quota.setResponse(Math.max(0, quota.responseBytes() + bytes), bytes <= 0);
    return true;
  } catch {
    return false;
  }
}

/** Why a quota has no room; null: it has. */
export function refusalOf(acquire: () => void): GatewayFault | null {
  try {
    acquire();
    return null;
  } catch (error) {
    return toGatewayFault(toFault(error));
  }
}

function toGatewayFault(fault: Fault): GatewayFault {
  const { code, message, retryAfterSeconds } = fault;
  return gatewayFault(statusOf(fault, 'canonical'), code, message, { retryAfterSeconds });
}
