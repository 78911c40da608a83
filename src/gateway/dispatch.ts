/** Serves a request that was checked: reserves what it may cost, sends it, admits it, passes the answer on, and accounts for it. */

import type { Clock } from '../domain/clock.ts';
import type { RequestStore } from '../domain/events/log-port.ts';
import { Fault } from '../domain/fault.ts';
import { bucketsAt } from '../domain/gateway/budget-demands.ts';
import type { ReadBody } from '../domain/gateway/dialects/dialect.ts';
import type { RecentOutputs } from '../domain/gateway/estimate.ts';
import { faultOf, type GatewayFault, gatewayFault, UNAVAILABLE_FAULT } from '../domain/gateway/gateway-fault.ts';
import type { GatewaySetup } from '../domain/gateway/gateway-setup.ts';
import type { LeaseHolder, Reservation } from '../domain/gateway/lease-holder.ts';
import { contentOf, type ProxiedRequest } from '../domain/gateway/proxied-request.ts';
import type { RatedRequest, RateLimiter } from '../domain/gateway/rate-limits.ts';
import { reserveFor, spenderOf } from '../domain/gateway/request-budgets.ts';
import type { Prices } from '../domain/pricing/prices.ts';
import type { Accounting } from './accounting.ts';
import { answerHeaders, sendFault } from './answering.ts';
import { type Attempted, type AttemptsDeps, attempt, type Candidate } from './attempts.ts';
import type { createBudgetLevels } from './budget-levels.ts';
import type { BodyRoute } from './data-routes.ts';
import { passAnswer } from './pass-answer.ts';
import type { ProxyCall, Served } from './proxy-call.ts';
import type { CallerResponse } from './relay.ts';

/** A request that passed all checks but its budgets. */
export type Prepared = {
  readonly call: ProxyCall;
  readonly route: BodyRoute;
  readonly bytes: Buffer;
  readonly request: ProxiedRequest;
  readonly body: ReadBody;
  readonly setup: GatewaySetup;
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly prices: Prices;
  readonly medianOutputTokens: number | null;
  readonly rated: RatedRequest;
};

type DispatchDeps = AttemptsDeps & {
  readonly store: Pick<RequestStore, 'admit'>;
  readonly holder: LeaseHolder;
  readonly limiter: RateLimiter;
  readonly recent: RecentOutputs;
  readonly levels: ReturnType<typeof createBudgetLevels>;
  readonly accounting: Accounting;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
};

export type Dispatch = ReturnType<typeof createDispatch>;

const WHOLE_MAX_MS = 15 * 60_000;
const ADMISSIONS_MAX = 3;

export function createDispatch(deps: DispatchDeps) {
  const { holder, accounting, clock } = deps;

  async function reserve({ request, setup, prices, body, medianOutputTokens, candidates }: Prepared) {
    const { presented, endUserId, startedAtMs: atMs } = request;
    const budgeted = { presented, setup, prices, body, endUserId, medianOutputTokens, atMs };
    let refusal: GatewayFault | null = null;
    for (const [index, candidate] of candidates.entries()) {
      const reserved = await reserveFor(holder, budgeted, candidate);
      if (!('code' in reserved)) return { reservation: reserved, candidates: candidates.slice(index), budgeted };
      // Another provider may have a budget of its own.
      refusal ??= faultOf(reserved);
    }
    return refusal ?? UNAVAILABLE_FAULT;
  }

  /** Null once the admission is durable. */
  async function admit(prepared: Prepared, first: Candidate, reservation: Reservation): Promise<GatewayFault | null> {
    const { request } = prepared;
    const { organization, project } = request.presented;
    let reserved = reservation;
    for (let round = 1; ; round += 1) {
      const state = await commit({
        kind: 'admission',
        organizationId: organization.id,
        organizationNumber: organization.number,
        projectId: project.id,
        projectNumber: project.number,
        receivedAtMs: request.startedAtMs,
        gatewayRequestId: request.gatewayRequestId,
        content: contentOf(request, first, request.startedAtMs),
        ...reserved,
      });
      holder.conclude(reserved, state);
      if (state === 'admitted') return null;
      if (state === 'unknown' || round === ADMISSIONS_MAX) return UNAVAILABLE_FAULT;
      // The stored lease was another one's: what is left is reserved anew.
      const again = await reserve({ ...prepared, candidates: [first] });
      if ('httpStatus' in again) return again;
      reserved = again.reservation;
    }
  }

  async function commit(admission: Parameters<RequestStore['admit']>[0]): Promise<'admitted' | 'lost' | 'unknown'> {
    try {
      return await deps.store.admit(admission);
    } catch (error) {
      const isAway = error instanceof Fault && error.code === 'unavailable';
      if (!isAway) deps.onError(error, 'the admission of a request through the gateway failed');
      return 'unknown';
    }
  }

  async function refuse({ call, route, request }: Prepared, fault: GatewayFault): Promise<Served> {
    await accounting.refuse(request, fault);
    sendFault(call.response, { dialect: route.dialect, fault }, answerHeaders(request));
    return { status: fault.httpStatus, fault, isKnownKey: true };
  }

  async function serve(prepared: Prepared): Promise<Served> {
    const { request } = prepared;
    const reserved = await reserve(prepared);
    if ('httpStatus' in reserved) return await refuse(prepared, reserved);
    const { reservation, candidates, budgeted } = reserved;
    const [first] = candidates;
    if (first === undefined) return await refuse(prepared, UNAVAILABLE_FAULT);
    const leaving = watchCaller(prepared.call.response);
    const admitting = admit(prepared, first, reservation).then((fault) => {
      if (fault === null) accounting.begin(request);
      else leaving.abort();
      return fault;
    });
    const more: Reservation[] = [];
    const reservedIds = reservation.amounts.map(({ budgetId }) => budgetId);
    try {
      const attempted = await attempt(deps, {
        ...prepared,
        headers: prepared.call.headers,
        query: prepared.call.query,
        attemptsMax: request.presented.key.config.fallback.maxAttempts,
        candidates,
        signal: leaving.signal,
        async mayFallBackTo(candidate) {
          if ((await admitting) !== null) return false;
          const extra = await reserveFor(holder, budgeted, { ...candidate, reservedIds });
          if ('code' in extra) return false;
          more.push(extra);
          return true;
        },
      });
      const fault = await admitting;
      if (fault !== null) {
        discard(attempted);
        return await refuse(prepared, fault);
      }
      return await finish(prepared, attempted, budgeted.atMs);
    } finally {
      leaving.end();
      // What a fallback had reserved beside the admission: the outcome has counted, so the lease goes back whole.
      for (const extra of more) holder.conclude(extra, 'lost');
    }
  }

  /** The request is admitted: from here on it gets exactly one outcome. */
  async function finish(
    prepared: Prepared,
    { candidate, fallbackCount, result }: Attempted,
    atMs: number,
  ): Promise<Served> {
    const { call, route, request, body } = prepared;
    const { response } = call;
    const base = { target: candidate, fallbackCount, cache: 'bypass', isDispatched: candidate !== null } as const;
    const headers = answerHeaders(request, {
      ...(candidate !== null && { provider: candidate.provider.name, model: candidate.model }),
      ...{ cache: base.cache, fallbackCount, budgetWarning: warningOf(prepared, candidate, atMs) },
    });
    if (result === 'cancelled' || 'httpStatus' in result) {
      const fault = result === 'cancelled' ? CALLER_LEFT : result;
      const ending = { ...base, endedAtMs: clock(), firstTokenAtMs: null, facts: accounting.nothingRead };
      const error = { class: fault.code, httpStatus: fault.httpStatus };
      await accounting.conclude(prepared, { ...ending, error, errorMessage: fault.message });
      sendFault(response, { dialect: route.dialect, fault }, headers);
      return { status: fault.httpStatus, fault, isKnownKey: true };
    }
    const asksForUsage = route.kind === 'chat' && body.isStreamed && !body.asksForUsage;
    const passed = await passAnswer({
      ...{ answer: result, response, route, body, headers, clock },
      hidesUsage: asksForUsage && candidate?.provider.streamUsage === true,
      captures: request.presented.key.config.capture === 'full',
    });
    const { finish: end, ...told } = passed;
    const concluding = accounting.conclude(prepared, { ...base, ...told, endedAtMs: clock() });
    await Promise.race([concluding, timeout(OUTCOME_WAIT_MS)]);
    end();
    await concluding;
    return { status: result.status, fault: null, isKnownKey: true };
  }

  function warningOf({ request, setup }: Prepared, candidate: Candidate | null, atMs: number): string {
    const { organization } = request.presented;
    const spender = { ...spenderOf(request), modelProviderId: candidate?.provider.id ?? null };
    const buckets = bucketsAt(setup.budgets.matching(spender), { organizationNumber: organization.number, atMs });
    return buckets.length === 0 ? '' : deps.levels.warningOf(organization.number, buckets);
  }

  /** A route that leaves no record. */
  async function serveUncounted(prepared: Prepared): Promise<Served> {
    const { call, route, request, candidates, body } = prepared;
    const { response } = call;
    const leaving = watchCaller(response);
    const { result, candidate, fallbackCount } = await attempt(deps, {
      ...prepared,
      ...{
        headers: call.headers,
        query: call.query,
        candidates,
        signal: leaving.signal,
        attemptsMax: request.presented.key.config.fallback.maxAttempts,
        mayFallBackTo: async () => true,
      },
    }).finally(leaving.end);
    const headers = answerHeaders(request, {
      ...(candidate !== null && { provider: candidate.provider.name, model: candidate.model }),
      fallbackCount,
    });
    if (result === 'cancelled' || 'httpStatus' in result) {
      const fault = result === 'cancelled' ? CALLER_LEFT : result;
      sendFault(response, { dialect: route.dialect, fault }, headers);
      return { status: fault.httpStatus, fault, isKnownKey: true };
    }
    const passed = await passAnswer({
      ...{ answer: result, response, route, body, headers, clock, hidesUsage: false, captures: false },
    });
    passed.finish();
    return { status: result.status, fault: null, isKnownKey: true };
  }

  return {
    serve: (prepared: Prepared) =>
      prepared.route.kind === 'count_tokens' ? serveUncounted(prepared) : serve(prepared),
    recordRefusal: accounting.refuse,
  };
}

const CALLER_LEFT = gatewayFault(499, 'client_closed_request', 'The caller left before the answer came.');
const OUTCOME_WAIT_MS = 2_000;

function timeout(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs).unref();
  });
}

/** Aborts once the caller has left, or the request takes too long. */
function watchCaller(response: CallerResponse) {
  const leaving = new AbortController();
  const abort = () => leaving.abort();
  const timer = setTimeout(abort, WHOLE_MAX_MS).unref();
  response.once('close', abort);
  if (response.destroyed) abort();
  return {
    signal: leaving.signal,
    abort,
    end() {
      clearTimeout(timer);
      response.off('close', abort);
    },
  };
}

function discard({ result }: Attempted): void {
  if (typeof result === 'string' || !('body' in result) || Buffer.isBuffer(result.body)) return;
  result.body.on('error', () => undefined).destroy();
}
