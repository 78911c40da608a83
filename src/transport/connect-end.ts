/** What is told of an exchange of Connect, gRPC-Web or the long way of gRPC once it is answered. */

import { ErrorFamily } from '../../gen/spandrel/v1/options_pb.js';
import type { Fault } from '../domain/fault.ts';
import type { CallerKind, CallIds, Method } from '../rpc/method.ts';
import type { CallLog } from './call-log.ts';
import { arrivalOf } from './origin.ts';
import { familyOfPolicy, statusOf } from './rest/errors.ts';
import type { HttpHandler } from './server.ts';

export type ExchangeEnd = {
  readonly onCaller: (kind: CallerKind) => void;
  /** The first one is what the caller is told. */
  readonly onFault: (fault: Fault) => void;
  /** To be called as the answer leaves, with its status of HTTP; what failed has one of its own. */
  readonly tell: (httpStatus: number) => void;
};

export type Watched = {
  readonly request: Parameters<HttpHandler>[0];
  readonly ids: CallIds;
  readonly method: Method | undefined;
  /** Whether there is an rpc at the path. */
  readonly isKnown: boolean;
};

export function watchExchange(callLog: CallLog, { request, ids, method, isKnown }: Watched): ExchangeEnd {
  const startedAtMs = callLog.nowMs();
  const arrival = arrivalOf(request, true);
  let caller: CallerKind = 'none';
  let fault: Fault | null = null;
  let isTold = false;
  return {
    onCaller(kind) {
      caller = kind;
    },
    onFault(met) {
      fault ??= met;
    },
    tell(httpStatus) {
      if (isTold) return;
      isTold = true;
      const path = request.url?.split('?', 1)[0] ?? '';
      const family = method ? familyOfPolicy(method.policy) : ErrorFamily.FLAT;
      const status = fault === null ? httpStatus : statusOf(fault, family);
      const about = {
        transport: 'connect' as const,
        method: request.method ?? null,
        route: isKnown ? path : null,
        path,
      };
      callLog.ended({ ...about, status, fault, caller, arrival, ids, startedAtMs });
    },
  };
}
