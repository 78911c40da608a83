/** One HTTP exchange of Connect, gRPC-Web or gRPC through the Connect router, and its report to the call log. */

import { createContextKey } from '@connectrpc/connect';
import type { Fault } from '../domain/fault.ts';
import type { CallerKind, CallIds, Method } from '../rpc/method.ts';
import type { CallLog } from './call-log.ts';
import { arrivalOf, type Origin } from './origin.ts';
import type { HttpHandler } from './server-options.ts';
import { familyOf, statusOf } from './status.ts';

export type Exchange = {
  readonly request: Parameters<HttpHandler>[0];
  readonly response: Parameters<HttpHandler>[1];
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  readonly origin: Origin;
  /** Undefined for health and reflection. */
  readonly method: Method | undefined;
  /** Its rejection ends the reading of the body. */
  readonly bodyEnd: PromiseWithResolvers<never>;
  readonly report: ExchangeReport;
};

export const exchangeKey = createContextKey<Exchange | null>(null);

type ExchangeReport = {
  readonly onCaller: (kind: CallerKind) => void;
  /** Only the first fault reaches the caller, so only the first is logged. */
  readonly onFault: (fault: Fault) => void;
  /** To be called when the response is sent, with its HTTP status; a fault has a status of its own. */
  readonly finish: (httpStatus: number) => void;
};

/** `isKnown`: there is an rpc at the path. */
type ReportedExchange = Pick<Exchange, 'request' | 'ids' | 'method'> & { readonly isKnown: boolean };

export function createExchangeReport(
  callLog: CallLog,
  { request, ids, method, isKnown }: ReportedExchange,
): ExchangeReport {
  const startedAtMs = callLog.nowMs();
  const arrival = arrivalOf(request, true);
  let caller: CallerKind = 'none';
  let fault: Fault | null = null;
  let isFinished = false;
  return {
    onCaller(kind) {
      caller = kind;
    },
    onFault(met) {
      fault ??= met;
    },
    finish(httpStatus) {
      if (isFinished) return;
      isFinished = true;
      const path = request.url?.split('?', 1)[0] ?? '';
      const status = fault === null ? httpStatus : statusOf(fault, method ? familyOf(method.policy) : 'flat');
      const about = { method: request.method ?? null, route: isKnown ? path : null, path };
      callLog.ended({ transport: 'connect', ...about, status, fault, caller, arrival, ids, startedAtMs });
    },
  };
}

/** Whether the client has disconnected. Over HTTP/2 a disconnect looks like the end of the body, which would then be decoded needlessly. */
export function isDisconnected({ request, response }: Exchange): boolean {
  const isStreamClosed = 'stream' in request && request.stream.destroyed;
  return isStreamClosed || request.aborted || response.writableEnded || response.destroyed === true;
}
