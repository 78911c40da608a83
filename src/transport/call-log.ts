/** Counts requests as they end, and logs each one that is refused; at level debug, every one. */

import type { Fault } from '../domain/fault.ts';
import type { GatewayFault } from '../domain/gateway/gateway-fault.ts';
import { maskedHead } from '../domain/token-mask.ts';
import type { CallerKind, CallIds } from '../rpc/method.ts';
import type { Arrival } from './origin.ts';

/** One request that has ended. */
type CallEnd = {
  readonly transport: 'rest' | 'grpc' | 'connect';
  /** The HTTP method; null where the request line could not be parsed. */
  readonly method: string | null;
  /** The template of its route or the path of its rpc; null when there is none. */
  readonly route: string | null;
  /** As it was sent, without the query. Logged only where there is no route. */
  readonly path: string | null;
  /** The HTTP status; over gRPC and Connect the one that REST has for the same failure. */
  readonly status: number;
  readonly fault: (Pick<GatewayFault, 'code'> & Partial<Pick<Fault, 'kind'>>) | null;
  readonly caller: CallerKind;
  readonly arrival: Arrival;
  readonly ids: CallIds;
  readonly startedAtMs: number;
};

export type CallLog = {
  /** On the clock of `CallEnd.startedAtMs`. */
  readonly nowMs: () => number;
  readonly ended: (call: CallEnd) => void;
  /** Logs how many lines were left out since the last such line. */
  readonly stop: () => void;
};

type CallMeter = {
  readonly ended: (transport: string, route: string, status: number, seconds: number) => void;
  readonly refused: (labels: { readonly code: string }) => void;
  readonly credentialRefused: (reason: string) => void;
};

type CallLogDeps = {
  readonly log: {
    info(fields: object, message: string): void;
    debug(fields: object, message: string): void;
    isLevelEnabled(level: string): boolean;
  };
  readonly meter: CallMeter;
  readonly addressOf: (arrival: Arrival) => string | null;
  readonly monotonicMs: () => number;
};

const REFUSED_STATUS_MIN = 400;
const UNHEALTHY_STATUS = 503;
const LINES_PER_SECOND_MAX = 10;
const PATH_CHARACTERS_MAX = 200;
const NO_ROUTE = 'none';

export function createCallLog({ log, meter, addressOf, monotonicMs }: CallLogDeps): CallLog {
  const describe = ({ transport, method, route, path, status, fault, caller, arrival, ids, startedAtMs }: CallEnd) => ({
    transport,
    method,
    ...(route === null ? { path: path === null ? null : maskedHead(path, PATH_CHARACTERS_MAX) } : { route }),
    status,
    code: fault?.code ?? null,
    caller,
    address: addressOf(arrival),
    ms: Math.round((monotonicMs() - startedAtMs) * 10) / 10,
    requestId: ids.requestId,
  });
  const second = limitPerSecond(log);
  return {
    nowMs: monotonicMs,
    ended(call) {
      const { transport, route, status, fault } = call;
      meter.ended(transport, route ?? NO_ROUTE, status, (monotonicMs() - call.startedAtMs) / 1_000);
      if (fault !== null) meter.refused({ code: fault.code });
      if (fault?.kind === 'unauthenticated') meter.credentialRefused(fault.code);
      if (isRefused(call) && second.hasRoom(fault?.code ?? null)) log.info(describe(call), 'request refused');
      else if (log.isLevelEnabled('debug')) log.debug(describe(call), 'request');
    },
    stop: second.end,
  };
}

/** A 503 of a health page is a proper response, not a refusal. */
function isRefused({ status, fault }: CallEnd): boolean {
  return fault !== null || (status >= REFUSED_STATUS_MIN && status !== UNHEALTHY_STATUS);
}

/** Limits the lines of each second: a client that sends only bad requests must not fill the disk. */
function limitPerSecond(log: CallLogDeps['log']) {
  let lines = 0;
  let leftOut = 0;
  /** The code of the lines left out; null when their codes differ. */
  let code: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  const end = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (leftOut > 0) log.info({ count: leftOut, code }, 'more requests were refused');
    lines = 0;
    leftOut = 0;
  };
  return {
    hasRoom(ofCode: string | null): boolean {
      timer ??= setTimeout(end, 1_000).unref();
      if (lines >= LINES_PER_SECOND_MAX) {
        code = leftOut === 0 || code === ofCode ? ofCode : null;
        leftOut += 1;
        return false;
      }
      lines += 1;
      return true;
    },
    end,
  };
}
