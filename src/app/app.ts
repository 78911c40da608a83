/** Wires the rooms: ports in, a listening server out. Tests and the command line start here. */

import { createAuthenticate } from '../auth/authenticate.ts';
import { createEvaluating } from '../background/evaluations.ts';
import { startClockJob, startJobs } from '../background/jobs.ts';
import { startMonitorRunner } from '../background/monitors.ts';
import { createTraceDeleting } from '../background/trace-deletions.ts';
import { createTriggering } from '../background/triggers.ts';
import { createWebhooks } from '../background/webhooks.ts';
import { openFilesLimit } from '../cli/open-files.ts';
import { readCommit, readVersion } from '../cli/version.ts';
import { createEvaluations } from '../domain/evaluations/evaluations.ts';
import { createRetentionClock } from '../domain/management/retention-clock.ts';
import { createCooperativeRunner } from '../domain/steps.ts';
import { createChangeFeed, publishChanges } from '../domain/traces/tail/change-feed.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createInvoke } from '../rpc/invoke.ts';
import { createQuotas } from '../rpc/quotas.ts';
import { createInvokeStream } from '../rpc/streams/invoke-stream.ts';
import { createStreamWatch } from '../rpc/streams/stream-watch.ts';
import { type Wait, waitUnref } from '../scheduling/schedule.ts';
import { createIdSource } from '../transport/call-ids.ts';
import { createCallLog } from '../transport/call-log.ts';
import { createGrpc } from '../transport/grpc.ts';
import { createHealth, shareReadiness } from '../transport/health.ts';
import { createLazyConnect } from '../transport/lazy-connect.ts';
import { withMcp } from '../transport/mcp/serve-mcp.ts';
import { createAddressOf, createCallerOf, createOriginOf } from '../transport/origin.ts';
import { createReadBudget } from '../transport/read-budget.ts';
import { createResponseWatch } from '../transport/response-watch.ts';
import { createBodyWatch } from '../transport/rest/body-watch.ts';
import { corsHeaders, createCors } from '../transport/rest/cors.ts';
import { refuseEarly } from '../transport/rest/early-refusal.ts';
import type { RestRequest, RestResponse } from '../transport/rest/exchange.ts';
import { createBoundedInflate } from '../transport/rest/inflate.ts';
import { createPages } from '../transport/rest/pages.ts';
import { createRest } from '../transport/rest/rest.ts';
import { compileRoutes } from '../transport/rest/routes.ts';
import { listen } from '../transport/server.ts';
import type { TlsTexts } from '../transport/server-options.ts';
import { createYieldToEventLoop } from '../transport/yield-to-event-loop.ts';
import type { Deps } from './deps.ts';
import { createOutageLog } from './outage-log.ts';
import { createAddToQueue } from './people-services.ts';
import { createGateway } from './proxy.ts';
import { createRequestRecords, flushRequestRecords } from './request-records.ts';
import {
  BODY_BYTES_PER_TURN,
  BODY_GAP_MS,
  BODY_WHOLE_MS,
  HEAD_LIMITS,
  RESPONSE_TIMEOUTS,
  serverLimits,
} from './server-limits.ts';
import { compileServices } from './services.ts';
import { createSignInWays } from './sign-in.ts';
import { createTraceParts } from './trace-parts.ts';
import { startTracing } from './tracing.ts';
import { workOnTriggers } from './trigger-services.ts';

export type AppDeps = Omit<Deps, 'retentionNowMs'> & {
  /** The wait of jobs between their runs; real time by default. */
  readonly wait?: Wait;
  /** Milliseconds that really passed, against which retention checks the clock; those of the process by default. */
  readonly passedMs?: () => number;
  /** Runs once the port is bound; connections wait until it has ended. */
  readonly beforeServing?: () => Promise<void>;
  /** Set when the port speaks TLS. */
  readonly tls: TlsTexts | null;
};

export type App = {
  /** The base address of every protocol, for example http://127.0.0.1:5560. */
  readonly address: string;
  readonly port: number;
  /** Uses another certificate for connections from now on; only when the port speaks TLS. */
  readonly renewTls: (tls: TlsTexts) => void;
  /** Finishes requests in progress, refuses new ones, then closes the port. The store stays open. */
  stop(): Promise<void>;
};

/** Starts serving. Rejects when the port cannot be bound, the contract is incomplete, or `beforeServing` rejects. */
export async function createApp(appDeps: AppDeps): Promise<App> {
  const { config, clock } = appDeps;
  const monotonicMs = () => performance.now();
  const outage = createOutageLog({ log: appDeps.log, ready: appDeps.store.ready, monotonicMs, wait: waitUnref });
  let accepting = true;
  let attemptsInFlight = () => 0;
  const retentionClock = createRetentionClock({
    store: appDeps.store.clock,
    clock,
    monotonicMs: appDeps.passedMs ?? monotonicMs,
    log: outage.log,
  });
  const deps = { ...appDeps, retentionNowMs: retentionClock.nowMs, log: outage.log };
  const quotas = createQuotas(config.limits.requests);
  const webhooks = createWebhooks({ ...deps, version: readVersion() });
  const metrics = createMetrics({
    store: deps.store,
    clock,
    monotonicMs,
    inFlight: () => attemptsInFlight(),
    held: quotas.held,
    openSockets: webhooks.openSockets,
    retentionClock,
    build: { version: readVersion(), commit: readCommit(), store: deps.store.kind },
    openFilesMax: openFilesLimit(),
    traceDefaultDays: config.traceRetentionDays,
  });
  const tracing = await startTracing({ ...deps, monotonicMs, count: metrics.spans });
  const meter = tracing.watchDeliveries(metrics.deliveries);
  const changeFeed = createChangeFeed();
  const store = publishChanges(metrics.store, changeFeed);
  let publicUrl = config.publicUrl ?? '';
  const publicOrigin = config.publicUrl === null ? null : new URL(config.publicUrl).origin;
  const yieldToEventLoop = createYieldToEventLoop();
  const runCooperatively = createCooperativeRunner({ yieldToEventLoop, nowMs: monotonicMs });
  const traceParts = createTraceParts({ ...deps, store, runCooperatively, lossMeter: metrics.losses });
  const { prices, results } = traceParts;
  const evaluating = createEvaluating({ ...deps, store, prices, onEnd: metrics.evaluations.ended });
  const deleting = createTraceDeleting(deps);
  const triggering = createTriggering({
    ...deps,
    webhooks,
    meter: metrics.triggers,
    addToQueue: createAddToQueue(deps),
  });
  const onLost = (error: unknown) => deps.log.warn({ err: error }, 'the result of an evaluation could not be stored');
  const evaluations = createEvaluations({ ...store, ...deps, ...evaluating.ports, results, onLost });
  const isWhole = config.role === 'all';
  const serviceDeps = {
    ...deps,
    store,
    changeFeed,
    requestMeter: metrics.requests,
    onDiscarded: metrics.otlpDiscarded,
    onTraceDeletionChanged: deleting.onChanged,
    onSpans: tracing.noteSpans,
    runCooperatively,
    yieldToEventLoop,
    webhooks: webhooks.ports,
    triggering,
    evaluations: { ...evaluating.ports, evaluations },
    traceParts,
    askModel: () => gateway.ask,
  };
  const methods = isWhole ? compileServices(serviceDeps, () => publicUrl) : [];
  const requestRecords = createRequestRecords(deps);
  const pipeline = {
    ...requestRecords,
    authenticate: createAuthenticate({
      keys: store.keys,
      clock,
      pepper: deps.rootKeys.pepper,
      prefixes: config.keyPrefixes,
      keySessions: config.signIn.byKey,
      publicOrigin,
    }),
    clock,
    ownOrigins: () => originsOf(typeof config.cors === 'string' ? [publicUrl] : [publicUrl, ...config.cors]),
    yieldToEventLoop,
    accepting: () => accepting,
    log: deps.log,
  };
  const invoke = createInvoke(pipeline);
  const streams = createStreamWatch({ monotonicMs, accepting: () => accepting, wait: waitUnref });
  const invokeStream = createInvokeStream({ ...pipeline, streams, monotonicMs });
  const ids = tracing.watchIds(createIdSource(deps.random, config.tracing));
  const watch = createBodyWatch({ gapMs: BODY_GAP_MS, wholeMs: BODY_WHOLE_MS }, monotonicMs);
  const health = createHealth({ methods, accepting: () => accepting, ready: store.ready, monotonicMs });
  const originOf = createOriginOf({ quotas, trustedProxies: config.trustedProxies, publicOrigin });
  const responses = createResponseWatch(RESPONSE_TIMEOUTS, monotonicMs);
  const addressOf = createAddressOf(config.trustedProxies);
  const callLog = tracing.watchCalls(createCallLog({ log: deps.log, meter: metrics.calls, addressOf, monotonicMs }));
  const inflate = createBoundedInflate();
  const reading = createReadBudget({ bytesPerTurn: BODY_BYTES_PER_TURN });
  const calls = { methods, invoke, invokeStream, ids, originOf, responses, callLog, reading, runCooperatively };
  const bodies = { ...calls, routes: compileRoutes(methods), yieldToEventLoop, watch, inflate, version: readVersion() };
  const rest = createRest({
    ...bodies,
    pages: createPages({
      readiness: shareReadiness(store.ready, monotonicMs),
      heldMs: retentionClock.heldMs,
      accepting: () => accepting,
      metrics: config.metrics ? metrics.text : null,
      people: isWhole,
      console: config.console,
      signIn: createSignInWays(deps),
      publicUrl: () => publicUrl,
    }),
    ...HEAD_LIMITS,
  });
  const gateway = createGateway(
    {
      ...deps,
      store,
      traceParts,
      runCooperatively,
      evaluations,
      keyUse: requestRecords.keyUse,
      resolve: webhooks.ports.resolve,
      tracing,
      wait: waitUnref,
    },
    { ...calls, ...HEAD_LIMITS, inflate, accepting: () => accepting },
  );
  const router = createLazyConnect({ ...calls, health, fallback: withMcp(rest, bodies), log: deps.log });
  const cors = createCors(config.cors, ids);
  const server = await listen(
    {
      host: config.host,
      port: config.port,
      callerOf: createCallerOf(config.trustedProxies),
      tls: deps.tls,
      limits: serverLimits(config),
      meter: metrics.connections,
      async beforeServing() {
        await deps.beforeServing?.();
        // Writes, so only once the secret has proved to be that of the database.
        await retentionClock.check().catch((error: unknown) => {
          deps.log.warn({ err: error }, 'the clock could not be compared with what is stored');
        });
      },
    },
    {
      http: (request, response) => {
        const exchange = [request as RestRequest, response as RestResponse] as const;
        if (!cors(...exchange) && !gateway.serve(...exchange)) router(request, response);
      },
      grpc: createGrpc(calls),
      refuse(refused, socket) {
        const refusal = refuseEarly(refused, { ids, callLog, socket });
        return { ...refusal, headers: { ...corsHeaders(config.cors, refused.headers.origin), ...refusal.headers } };
      },
    },
  );
  if (config.publicUrl === null) publicUrl = server.address;
  /** What runs by itself. Returns its stop. */
  const startBackground = () => {
    const delivery = webhooks.deliver({
      ...{ store: store.deliveries, meter, log: deps.log, retentionNowMs: deps.retentionNowMs },
    });
    attemptsInFlight = delivery.inFlight;
    evaluating.work({ ...traceParts, store, random: deps.random });
    deleting.work({ ...traceParts, store, random: deps.random });
    const traceRun = workOnTriggers(triggering, { ...serviceDeps, ...delivery, publicUrl: () => publicUrl });
    const monitors = startMonitorRunner({ ...serviceDeps, ...evaluating.ports, results, traceRun });
    const jobs = startJobs({
      ...{ ...deps, store, prices, retentionClock, deliveryNowMs: delivery.nowMs },
      onDisabled(endpoint) {
        meter.disabled('auto_failures_72h');
        deps.log.warn({ endpoint, reason: 'auto_failures_72h' }, 'a webhook endpoint was disabled');
      },
      wait: deps.wait ?? waitUnref,
    });
    return (drainMs: number) =>
      Promise.all([jobs.stop(), deleting.stop(), triggering.stop(), delivery.stop(drainMs), monitors.stop(drainMs)]);
  };
  // A gateway leaves the rest to the other processes.
  const stopBackground = isWhole
    ? startBackground()
    : startClockJob({ ...deps, retentionClock, wait: deps.wait ?? waitUnref }).stop;
  return {
    address: server.address,
    port: server.port,
    renewTls: server.renewTls,
    async stop() {
      accepting = false;
      const { drainMs } = config.limits;
      await Promise.all([server.drain(drainMs), stopBackground(drainMs)]);
      await gateway.stop();
      webhooks.close();
      await evaluating.close();
      await flushRequestRecords(requestRecords);
      callLog.stop();
      await tracing.stop();
      outage.stop();
      metrics.stop();
      watch.close();
      responses.close();
      streams.stop();
    },
  };
}

function originsOf(urls: readonly string[]): readonly string[] {
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);
}
