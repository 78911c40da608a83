/** Serves a request that was checked: reserves, sends and admits it, passes the answer on, and accounts for it. */

import { bucketsAt } from '../domain/gateway/budget-demands.ts';
import type { AnswerFacts } from '../domain/gateway/dialects/dialect.ts';
import { withOthers } from '../domain/gateway/dialects/other-texts.ts';
import { type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { Ending, ProxiedRequest } from '../domain/gateway/proxied-request.ts';
import { spenderOf } from '../domain/gateway/request-budgets.ts';
import type { Accounting } from './accounting.ts';
import { answerHeaders, sendFault } from './answering.ts';
import { type Attempted, type AttemptsDeps, attempt, type Candidate, discard, type Sending } from './attempts.ts';
import type { createBudgetLevels } from './budget-levels.ts';
import { answerFrom, type CachedAnswers, type CacheUse, keepAnswer } from './cached-answers.ts';
import type { Guardrails } from './guardrails.ts';
import { CALLER_LEFT, ERROR_STATUS_MIN, isEventStream, passAnswer } from './pass-answer.ts';
import type { Prepared } from './prepared.ts';
import type { Served } from './proxy-call.ts';
import { type CallerResponse, isGone } from './relay.ts';
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

/** From the sending of a request to the end of its answer. */
export const MODEL_ANSWER_WHOLE_MS = 15 * 60_000;
const TOOK_TOO_LONG = gatewayFault(504, 'provider_timeout', 'No provider answered within 15 minutes.');
const GIVEN_UP: ReadonlySet<string> = new Set([CALLER_LEFT.code, TOOK_TOO_LONG.code]);

type Sender = Pick<Ending, 'cache' | 'fallbackCount'> & { readonly candidate: Candidate | null };

/** How an answer came to be. */
type Origin = Sender & {
  /** Whether a provider may have read the request. */
  readonly isSent: boolean;
  /** The cache that the answer may be kept in. */
  readonly use: CacheUse | null;
  /** Called once the caller has its answer, and may leave. */
  readonly onPassed?: () => void;
};

export function createDispatch(deps: DispatchDeps) {
  const { reserving, accounting, cache, clock } = deps;

  async function refuse({ call, route, request, rated }: Prepared, fault: GatewayFault): Promise<Served> {
    accounting.giveBack(rated);
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

  /** The request is sent while its admission is being committed; the caller gets nothing before both are there. */
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
      const { result, candidate, fallbackCount, isSent } = await attempt(deps, {
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
        const origin = { candidate, fallbackCount, isSent, cache: use ? 'miss' : 'bypass' } as const;
        // The answer of another provider is not the one that the cache is asked for.
        const keepsIn = candidate === reserved.candidates[0] ? use : null;
        return await finish(prepared, result, { ...origin, use: keepsIn, onPassed: leaving.end });
      }
      discard(result);
      return await refuse(prepared, fault);
    } catch (error) {
      leaving.abort();
      // Only then: the end of the admission puts the request among those in progress.
      await admitting;
      accounting.abandon(request);
      throw error;
    } finally {
      leaving.end();
      for (const give of giveBack) give();
    }
  }

  /** From here on the request gets exactly one outcome. */
  async function finish(prepared: Prepared, result: Attempted['result'], origin: Origin): Promise<Served> {
    const { call, route, request } = prepared;
    const { candidate, fallbackCount, isSent, cache: state, use, onPassed } = origin;
    const base = { target: candidate, fallbackCount, cache: state, isDispatched: candidate !== null };
    const headers = await headersOf(prepared, origin);
    if (result === 'cancelled' || 'httpStatus' in result) {
      const fault = faultOf(result, call.response);
      const error = { class: fault.code, httpStatus: fault.httpStatus };
      // A provider that nobody waited for any longer has read the request.
      const isAnswered = isSent && GIVEN_UP.has(fault.code);
      const nothing = { facts: accounting.nothingRead, firstTokenAtMs: null, isAnswered };
      const told = { ...nothing, error, errorMessage: fault.message };
      const account = await accounting.conclude(prepared, { ...base, ...told, endedAtMs: clock() });
      sendFault(call.response, { dialect: route.dialect, fault }, headers);
      return { status: fault.httpStatus, fault, isKnownKey: true, account };
    }
    const { config } = request.presented.key;
    const keeping = use?.mayStore && state === 'miss' ? keepAnswer(route.kind, isEventStream(result)) : null;
    const isAnswered = result.status < ERROR_STATUS_MIN;
    const {
      finish: end,
      fault,
      ...told
    } = await passAnswer({
      ...{ answer: result, response: call.response, holdMemory: call.holdMemory, route, headers, clock, keeping },
      hidesUsage: hidesUsage(prepared, candidate),
      apiKey: () => candidate && deps.providerKeys.open(candidate.provider),
      captures: config.capture === 'full',
      judge: config.guardrails.post.length === 0 ? null : (facts) => guardAnswer(prepared, facts),
    });
    end();
    onPassed?.();
    const account = await accounting.conclude(prepared, { ...base, ...told, isAnswered, endedAtMs: clock() });
    if (keeping !== null && use !== null && candidate !== null && told.error === null) {
      const { isComplete } = told.facts;
      await cache.keep(use, { config, answer: result, bytes: keeping.end(), isComplete, candidate });
    }
    return { status: fault?.httpStatus ?? result.status, fault, isKnownKey: true, account };
  }

  async function headersOf({ request, setup }: Prepared, { candidate, cache: state, fallbackCount }: Sender) {
    const { organization } = request.presented;
    const spender = { ...spenderOf(request), modelProviderId: candidate?.provider.id ?? null };
    const at = { organizationNumber: organization.number, atMs: request.startedAtMs };
    const buckets = bucketsAt(setup.budgets.matching(spender), at);
    const budgetWarning = buckets.length === 0 ? '' : await deps.levels.warningOf(organization.number, buckets);
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
    return { answer, origin: { candidate, cache: 'hit', fallbackCount: 0, isSent: false, use } as const };
  }

  async function guardRequest({ request, body }: Prepared): Promise<GatewayFault | null> {
    const guarding = guardingOf(request, 'pre');
    if (guarding.evaluatorIds.length === 0) return null;
    return await deps.guardrails.check({ ...guarding, input: body.input, output: undefined });
  }

  function guardAnswer({ request, body }: Prepared, facts: AnswerFacts): Promise<GatewayFault | null> {
    const output = withOthers(facts.output, facts.others);
    return deps.guardrails.check({ ...guardingOf(request, 'post'), input: body.input, output });
  }

  /** A route that leaves no record. */
  async function serveUncounted(prepared: Prepared): Promise<Served> {
    const { call, route, candidates } = prepared;
    const leaving = watchCaller(call.response);
    const sending = { ...sendingOf(prepared, leaving.signal), candidates, mayFallBackTo: async () => true };
    const { result, candidate, fallbackCount } = await attempt(deps, sending).finally(leaving.end);
    const headers = await headersOf(prepared, { candidate, fallbackCount, cache: 'bypass' });
    if (result === 'cancelled' || 'httpStatus' in result) {
      const fault = faultOf(result, call.response);
      sendFault(call.response, { dialect: route.dialect, fault }, headers);
      return { status: fault.httpStatus, fault, isKnownKey: true };
    }
    const passed = await passAnswer({
      ...{ answer: result, response: call.response, holdMemory: call.holdMemory, route, headers, clock },
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

/** A request is cancelled when its caller leaves, and when it takes too long. */
function faultOf(result: GatewayFault | 'cancelled', response: CallerResponse): GatewayFault {
  if (result !== 'cancelled') return result;
  return isGone(response) ? CALLER_LEFT : TOOK_TOO_LONG;
}

function guardingOf({ place, presented }: ProxiedRequest, stage: 'pre' | 'post') {
  const { key, project } = presented;
  const { guardrails, capture } = key.config;
  return { stage, project, place, evaluatorIds: guardrails[stage], captures: capture === 'full' };
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

/** A reason of its own costs no stack trace for each caller who leaves. */
const GONE = new Error('nobody waits for the answer any more');

/** Aborts once the caller has left, or the request takes too long. */
function watchCaller(response: CallerResponse) {
  const leaving = new AbortController();
  const abort = () => leaving.abort(GONE);
  const timer = setTimeout(abort, MODEL_ANSWER_WHOLE_MS).unref();
  response.once('close', abort);
  if (isGone(response)) abort();
  return {
    signal: leaving.signal,
    abort,
    end() {
      clearTimeout(timer);
      response.off('close', abort);
    },
  };
}
