/** Wires the proxy: what serves requests with virtual keys, and what it keeps up in the background. */

import type { WebhookPorts } from '../background/webhooks.ts';
import { readVersion } from '../cli/version.ts';
import { createUrlPolicy } from '../domain/endpoints/url-policy.ts';
import type { Evaluations } from '../domain/evaluations/evaluations.ts';
import { createBreakers } from '../domain/gateway/breaker.ts';
import { createRecentOutputs } from '../domain/gateway/estimate.ts';
import { createLeaseHolder } from '../domain/gateway/lease-holder.ts';
import { RENEWAL_MS } from '../domain/gateway/lease-store.ts';
import { createRateLimiter } from '../domain/gateway/rate-limits.ts';
import type { KeyUse } from '../domain/keys/key-use.ts';
import { createProviderKeys } from '../domain/model-providers/provider-key.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import { createAccounting } from '../gateway/accounting.ts';
import { createBudgetLevels } from '../gateway/budget-levels.ts';
import { createCachedAnswers } from '../gateway/cached-answers.ts';
import { routeOf } from '../gateway/data-routes.ts';
import { createDispatch } from '../gateway/dispatch.ts';
import { createGuardrails } from '../gateway/guardrails.ts';
import { createKeyAnswers } from '../gateway/key-answers.ts';
import { createListModels } from '../gateway/list-models.ts';
import { createOutcomes } from '../gateway/outcomes.ts';
import { createOwnRequests } from '../gateway/own-requests.ts';
import { createProxy } from '../gateway/proxy.ts';
import { createReserving } from '../gateway/reserving.ts';
import { createUpstream } from '../gateway/upstream.ts';
import type { CallIds } from '../rpc/method.ts';
import { createQuotas, type Quotas } from '../rpc/quotas.ts';
import { startSchedule, type Wait } from '../scheduling/schedule.ts';
import { createBodyWatch } from '../transport/rest/body-watch.ts';
import { createDataRoutes, holdMemory, refusalOf } from '../transport/rest/data-routes.ts';
import type { Deps } from './deps.ts';
import type { createTraceParts } from './trace-parts.ts';
import type { Tracing } from './tracing.ts';

type ProxyDeps = Deps & {
  readonly resolve: WebhookPorts['resolve'];
  readonly traceParts: ReturnType<typeof createTraceParts>;
  readonly keyUse: KeyUse;
  readonly runCooperatively: RunCooperatively;
  readonly evaluations: Evaluations;
  readonly tracing: Pick<Tracing, 'watchUpstream' | 'within'>;
  readonly wait: Wait;
};

/** Of a request to a model, which may be large. */
export const MODEL_BODY_WHOLE_MS = 10 * 60_000;
const BODY_GAP_MS = 10_000;
/** Of all requests to models that are in memory. */
const MODEL_BODY_BYTES = 256 * 1024 * 1024;
/** Keys whose recent answers are kept in memory. */
const RECENT_KEYS_MAX = 10_000;
const PROCESS_ID_BYTES = 12;
const RANDOM_BYTES = 4_096;
/** How long a stop waits for outcomes of requests whose callers are gone: a store that hangs does not hold it up for ever. */
const ENDING_MAX_MS = 5_000;
/** How long a caller waits for the models of a provider. */
const MODELS_MS = 5_000;
const USER_AGENT = `Spandrel/${readVersion()}`;

type FaceParts = Pick<
  Parameters<typeof createDataRoutes>[0],
  'inflate' | 'reading' | 'ids' | 'callLog' | 'responses' | 'accepting' | 'requestLineMaxBytes' | 'headersMaxBytes'
>;

/** The data routes, with limits of their own: answers of models take long, and their requests may be large. */
export function createGateway(deps: ProxyDeps, parts: FaceParts) {
  const { isOn, concurrencyMax } = deps.config.gateway;
  if (!isOn) return { serve: () => false, ask: null, stop: async () => undefined };
  const proxy = startProxy(deps);
  const watch = createBodyWatch({ gapMs: BODY_GAP_MS, wholeMs: MODEL_BODY_WHOLE_MS }, () => performance.now());
  const amounts = { arriving: concurrencyMax, inFlight: concurrencyMax };
  const quotas = createQuotas({ ...amounts, bodyBytes: MODEL_BODY_BYTES, responseBytes: MODEL_BODY_BYTES });
  return {
    serve: createDataRoutes({ ...parts, quotas, watch, routeOf, serve: proxy.serve }),
    ask: createOwnRequests({ proxy, open: () => openOwn(quotas) }),
    async stop() {
      watch.close();
      await proxy.stop();
    },
  };
}

/** Requests of this server itself count like those of callers. */
function openOwn(quotas: Quotas) {
  const quota = quotas.open({ address: null, hasBody: false });
  let isBegun = false;
  return {
    identify: (keyId: string) =>
      refusalOf(() => {
        quota.begin();
        isBegun = true;
        quota.identify(keyId);
      }),
    holdMemory: (bytes: number) => holdMemory(quota, bytes),
    close() {
      if (!isBegun) return;
      quota.finish();
      quota.release();
    },
  };
}

function startProxy(deps: ProxyDeps) {
  const { store, config, clock, rootKeys, log, traceParts, wait } = deps;
  const random = poolRandom(deps.random);
  const nowMs = () => performance.now();
  const onError = (err: unknown, message: string) => log.warn({ err }, message);
  const policy = createUrlPolicy(config.gateway.allow, 'SPANDREL_GATEWAY_ALLOW');
  const upstream = deps.tracing.watchUpstream(createUpstream({ policy, resolve: deps.resolve }));
  const processId = random(PROCESS_ID_BYTES).toString('hex');
  const holder = createLeaseHolder({ store: store.leases, processId, nowMs });
  const limiter = createRateLimiter({ store: store.leases, nowMs });
  const recent = createRecentOutputs(RECENT_KEYS_MAX);
  const { traces, prices } = traceParts;
  const outcomes = createOutcomes({ store: store.requests, clock, wait, graceMs: config.settlementGraceMs, onError });
  const accounting = createAccounting({ outcomes, traces, prices, limiter, recent, clock, onError });
  const providerKeys = createProviderKeys({ encryptionKeys: rootKeys.encryptionKeys, random });
  const dispatch = createDispatch({
    ...{ upstream, accounting, clock },
    reserving: createReserving({ store: store.requests, holder, onError }),
    guardrails: createGuardrails({ evaluate: deps.evaluations.evaluate }),
    cache: createCachedAnswers({ store: store.answers, onError }),
    breakers: createBreakers({ nowMs }),
    providerKeys,
    levels: createBudgetLevels({ ledger: store.budgets, nowMs }),
  });
  const proxy = createProxy({
    ...{ keys: store.keys, pepper: rootKeys.pepper, prefix: config.gateway.virtualKeyPrefix },
    ...{ prices, limiter, recent, dispatch, clock, random, onError, runCooperatively: deps.runCooperatively },
    onUse: (keyId, atMs) => deps.keyUse.note({ kind: 'virtual_key', id: keyId, atMs }),
    tell: createKeyAnswers({
      ...{ keys: store.keys, ledger: store.budgets, providerKeys, clock, nowMs },
      listModels: createListModels({ policy, resolve: deps.resolve, userAgent: USER_AGENT, timeoutMs: MODELS_MS }),
    }),
  });
  const keeping = startSchedule({
    ...{ firstDelayMs: RENEWAL_MS, intervalMs: RENEWAL_MS, retryDelayMs: RENEWAL_MS, wait },
    async run() {
      limiter.sweep();
      await holder.tick();
    },
    onError: (error) => onError(error, 'leases of budgets could not be renewed'),
  });
  let inProgress = 0;
  const allEnded = Promise.withResolvers<void>();
  let isStopping = false;
  const endIfLast = () => {
    if (isStopping && inProgress === 0) allEnded.resolve();
  };
  async function counted<T>(serve: () => Promise<T>): Promise<T> {
    inProgress += 1;
    try {
      return await serve();
    } finally {
      inProgress -= 1;
      endIfLast();
    }
  }
  return {
    serve: (call: Parameters<typeof proxy.serve>[0] & { readonly ids: CallIds }) =>
      counted(() => deps.tracing.within(call.ids, () => proxy.serve(call))),
    serveOwn: (...asked: Parameters<typeof proxy.serveOwn>) => counted(() => proxy.serveOwn(...asked)),
    /** To be called when no caller is connected any more: what remains of their requests is their outcomes. */
    async stop(): Promise<void> {
      isStopping = true;
      endIfLast();
      const enough = new AbortController();
      await Promise.race([allEnded.promise, wait(ENDING_MAX_MS, enough.signal)]);
      enough.abort();
      await keeping.stop();
      await outcomes.stop();
      await holder.close().catch((error: unknown) => onError(error, 'leases of budgets could not be given back'));
      await upstream.close();
    },
  };
}

/** Draws many bytes at once: each draw costs a call into the operating system's generator. */
function poolRandom(random: Deps['random']): Deps['random'] {
  let pool = random(RANDOM_BYTES);
  let used = 0;
  return (count) => {
    if (count > RANDOM_BYTES) return random(count);
    if (used + count > pool.length) {
      pool = random(RANDOM_BYTES);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}
