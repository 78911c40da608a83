/** Serves a request that was checked: reserves, sends and admits it, passes the answer on, and accounts for it. */

import { bucketsAt } from '../domain/gateway/budget-demands.ts';
import type { AnswerFacts } from '../domain/gateway/dialects/dialect.ts';
import type { GatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { Ending } from '../domain/gateway/proxied-request.ts';
import { spenderOf } from '../domain/gateway/request-budgets.ts';
import type { Accounting } from './accounting.ts';
import { answerHeaders, sendFault } from './answering.ts';
import { type Attempted, type AttemptsDeps, attempt, type Candidate, discard, type Sending } from './attempts.ts';
import type { createBudgetLevels } from './budget-levels.ts';
import { answerFrom, type CachedAnswers, type CacheUse, keepAnswer } from './cached-answers.ts';
import type { Guardrails } from './guardrails.ts';
import { CALLER_LEFT, isEventStream, passAnswer } from './pass-answer.ts';
import type { Prepared } from './prepared.ts';
import type { Served } from './proxy-call.ts';
import type { CallerResponse } from './relay.ts';
import type { Reserved, Reserving } from './reserving.ts';

type DispatchDeps = AttemptsDeps & {
  readonly reserving: Reserving;
  readonly guardrails: Guardrails;
  readonly cache: CachedAnswers;
  readonly levels: ReturnType<typeof createBudgetLevels>;
  readonly accounting: Accounting;
  readonly clock: () => number;
};

export type Dispatch = ReturnType<typeof createDispatch>;

const WHOLE_MAX_MS = 15 * 60_000;
const OUTCOME_WAIT_MS = 2_000;
const ERROR_STATUS_MIN = 400;

/** How an answer came to be. */
type Origin = Pick<Ending, 'cache' | 'fallbackCount'> & {
  readonly candidate: Candidate | null;
  /** The cache that the answer may be kept in. */
  readonly use: CacheUse | null;
};

export function createDispatch(deps: DispatchDeps) {
  const { reserving, accounting, cache, clock } = deps;

  async function refuse({ call, route, request }: Prepared, fault: GatewayFault): Promise<Served> {
    await accounting.refuse(request, fault);
    sendFault(call.response, { dialect: route.dialect, fault }, answerHeaders(request));
    return { status: fault.httpStatus, fault, isKnownKey: true };
  }

  async function serve(prepared: Prepared): Promise<Served> {
    const reserved = await reserving.reserve(prepared);
    if ('httpStatus' in reserved) return await refuse(prepared, reserved);
    let isSent = false;
    try {
      const blocked = await guardRequest(prepared);
      if (blocked !== null) return await refuse(prepared, blocked);
      const use = useOf(prepared, reserved.candidates[0]);
      const hit = use?.mayRead ? await findCached(prepared, use) : null;
      if (hit !== null) return await finish(prepared, hit.answer, hit.origin);
      isSent = true;
      return await send(prepared, reserved, use);
    } finally {
      if (!isSent) reserving.cancel(reserved);
    }
  }

  /** The request is sent while its admission is committed; whatever waits for the answer waits for both. */
  async function send(prepared: Prepared, reserved: Reserved, use: CacheUse | null): Promise<Served> {
    const { request } = prepared;
    const leaving = watchCaller(prepared.call.response);
    const admitting = reserving.admit(prepared, reserved).then((fault) => {
      if (fault === null) accounting.begin(request);
      else leaving.abort();
      return fault;
    });
    const giveBack: (() => void)[] = [];
    try {
      const { result, candidate, fallbackCount } = await attempt(deps, {
        ...sendingOf(prepared, leaving.signal),
        candidates: reserved.candidates,
        async mayFallBackTo(next) {
          if ((await admitting) !== null) return false;
          const more = await reserving.reserveMore(prepared, reserved, next);
          if (more !== null) giveBack.push(more);
          return more !== null;
        },
      });
      const fault = await admitting;
      if (fault === null) {
        return await finish(prepared, result, { candidate, fallbackCount, cache: use ? 'miss' : 'bypass', use });
      }
      discard(result);
      return await refuse(prepared, fault);
    } finally {
      leaving.end();
      for (const give of giveBack) give();
    }
  }

  /** From here on the request gets exactly one outcome. */
  async function finish(prepared: Prepared, result: Attempted['result'], origin: Origin): Promise<Served> {
    const { call, route, request } = prepared;
    const { candidate, fallbackCount, cache: state, use } = origin;
    const base = { target: candidate, fallbackCount, cache: state, isDispatched: candidate !== null };
    const headers = headersOf(prepared, origin);
    if (result === 'cancelled' || 'httpStatus' in result) {
      const fault = result === 'cancelled' ? CALLER_LEFT : result;
      const error = { class: fault.code, httpStatus: fault.httpStatus };
      const nothing = { facts: accounting.nothingRead, firstTokenAtMs: null, isAnswered: false };
      const told = { ...nothing, error, errorMessage: fault.message };
      await accounting.conclude(prepared, { ...base, ...told, endedAtMs: clock() });
      sendFault(call.response, { dialect: route.dialect, fault }, headers);
      return { status: fault.httpStatus, fault, isKnownKey: true };
    }
    const { config } = request.presented.key;
    const keeping = use?.mayStore && state === 'miss' ? keepAnswer(route.kind, isEventStream(result)) : null;
    const isAnswered = result.status < ERROR_STATUS_MIN;
    const { finish: end, ...told } = await passAnswer({
      ...{ answer: result, response: call.response, route, headers, clock, keeping },
      hidesUsage: hidesUsage(prepared, candidate),
      apiKey: () => candidate && deps.providerKeys.open(candidate.provider),
      captures: config.capture === 'full',
      judge: config.guardrails.post.length === 0 ? null : (facts) => guardAnswer(prepared, facts),
    });
    const concluding = accounting.conclude(prepared, { ...base, ...told, isAnswered, endedAtMs: clock() });
    await Promise.race([concluding, timeout(OUTCOME_WAIT_MS)]);
    end();
    await concluding;
    if (keeping !== null && use !== null && candidate !== null && told.error === null) {
      const { isComplete } = told.facts;
      await cache.keep(use, { config, answer: result, bytes: keeping.end(), isComplete, candidate });
    }
    return { status: result.status, fault: null, isKnownKey: true };
  }

  function headersOf({ request, setup }: Prepared, { candidate, cache: state, fallbackCount }: Origin) {
    const { organization } = request.presented;
    const spender = { ...spenderOf(request), modelProviderId: candidate?.provider.id ?? null };
    const at = { organizationNumber: organization.number, atMs: request.startedAtMs };
    const buckets = bucketsAt(setup.budgets.matching(spender), at);
    const budgetWarning = buckets.length === 0 ? '' : deps.levels.warningOf(organization.number, buckets);
    return answerHeaders(request, {
      ...(candidate !== null && { provider: candidate.provider.name, model: candidate.model }),
      ...{ cache: state, fallbackCount, budgetWarning },
    });
  }

  function useOf({ call, route, bytes, request }: Prepared, candidate: Candidate): CacheUse | null {
    const { key, project } = request.presented;
    const asked = { config: key.config, projectNumber: project.number, route: route.kind, bytes, candidate };
    return cache.useOf({ ...asked, cacheControl: call.header('cache-control') });
  }

  async function findCached({ route, body, candidates }: Prepared, use: CacheUse) {
    const cached = await cache.find(use);
    const answer = cached && answerFrom(cached, route.kind, body);
    if (cached === null || answer === null) return null;
    const provider = candidates.find((candidate) => candidate.provider.id === cached.providerId)?.provider;
    const candidate = provider === undefined ? (candidates[0] ?? null) : { provider, model: cached.model };
    return { answer, origin: { candidate, cache: 'hit', fallbackCount: 0, use } as const };
  }

  async function guardRequest({ request, body }: Prepared): Promise<GatewayFault | null> {
    const { pre: evaluatorIds } = request.presented.key.config.guardrails;
    if (evaluatorIds.length === 0) return null;
    const { place, presented } = request;
    return await deps.guardrails.check({
      stage: 'pre',
      ...{ project: presented.project, place, evaluatorIds, input: body.input, output: undefined },
    });
  }

  function guardAnswer({ request, body }: Prepared, { output }: AnswerFacts): Promise<GatewayFault | null> {
    const { place, presented } = request;
    return deps.guardrails.check({
      stage: 'post',
      ...{ project: presented.project, place, evaluatorIds: presented.key.config.guardrails.post },
      ...{ input: body.input, output },
    });
  }

  /** A route that leaves no record. */
  async function serveUncounted(prepared: Prepared): Promise<Served> {
    const { call, route, candidates } = prepared;
    const leaving = watchCaller(call.response);
    const sending = { ...sendingOf(prepared, leaving.signal), candidates, mayFallBackTo: async () => true };
    const { result, candidate, fallbackCount } = await attempt(deps, sending).finally(leaving.end);
    const headers = headersOf(prepared, { candidate, fallbackCount, cache: 'bypass', use: null });
    if (result === 'cancelled' || 'httpStatus' in result) {
      const fault = result === 'cancelled' ? CALLER_LEFT : result;
      sendFault(call.response, { dialect: route.dialect, fault }, headers);
      return { status: fault.httpStatus, fault, isKnownKey: true };
    }
    const passed = await passAnswer({
      ...{ answer: result, response: call.response, route, headers, clock },
      ...{ hidesUsage: false, captures: false, judge: null, keeping: null, apiKey: () => null },
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

function sendingOf({ call, route, bytes, body, request }: Prepared, signal: AbortSignal) {
  const { maxAttempts: attemptsMax } = request.presented.key.config.fallback;
  const { query, headers } = call;
  return { route, query, headers, bytes, body, attemptsMax, signal } satisfies Partial<Sending>;
}

/** Whether the usage at the end of a stream was asked for by the gateway alone. */
function hidesUsage({ route, body }: Prepared, candidate: Candidate | null): boolean {
  return route.kind === 'chat' && body.isStreamed && !body.asksForUsage && candidate?.provider.streamUsage === true;
}

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
