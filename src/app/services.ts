/** Wires every service of the contract with its rules. */

import { DashboardService, GraphService } from '../../gen/spandrel/v1/dashboards_pb.js';
import { DatasetService } from '../../gen/spandrel/v1/datasets_pb.js';
import { EndpointService } from '../../gen/spandrel/v1/endpoints_pb.js';
import { EvaluationService } from '../../gen/spandrel/v1/evaluations_pb.js';
import { EvaluatorService } from '../../gen/spandrel/v1/evaluators_pb.js';
import { EventService } from '../../gen/spandrel/v1/events_pb.js';
import { ExperimentService } from '../../gen/spandrel/v1/experiments_pb.js';
import { GatewayService } from '../../gen/spandrel/v1/gateway_pb.js';
import { MonitorService } from '../../gen/spandrel/v1/monitors_pb.js';
import { PermissionService } from '../../gen/spandrel/v1/permissions_pb.js';
import { PricingService } from '../../gen/spandrel/v1/pricing_pb.js';
import { PromptService } from '../../gen/spandrel/v1/prompts_pb.js';
import { SavedViewService } from '../../gen/spandrel/v1/saved_views_pb.js';
import { SpendService } from '../../gen/spandrel/v1/spend_pb.js';
import { ThreadService } from '../../gen/spandrel/v1/threads_pb.js';
import { TimeseriesService } from '../../gen/spandrel/v1/timeseries_pb.js';
import { TraceDeletionService } from '../../gen/spandrel/v1/trace_deletions_pb.js';
import { TraceShareService } from '../../gen/spandrel/v1/trace_shares_pb.js';
import { TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import type { EvaluationPorts } from '../background/evaluations.ts';
import type { WebhookPorts } from '../background/webhooks.ts';
import { createAnalytics } from '../domain/analytics/analytics.ts';
import { createTimeseries } from '../domain/analytics/timeseries.ts';
import type { Project } from '../domain/caller.ts';
import { createCursorCodec } from '../domain/cursor.ts';
import { createDashboards } from '../domain/dashboards/dashboards.ts';
import { createDatasets } from '../domain/datasets/datasets.ts';
import { createEndpoints } from '../domain/endpoints/endpoints.ts';
import type { Evaluations } from '../domain/evaluations/evaluations.ts';
import { createEvaluatorRuns } from '../domain/evaluations/evaluator-runs.ts';
import { createEvaluators } from '../domain/evaluators/evaluators.ts';
import { createEvents } from '../domain/events/events.ts';
import type { RequestMeter } from '../domain/events/request-meter.ts';
import { createRunComparisons } from '../domain/experiments/comparison.ts';
import { createExperiments } from '../domain/experiments/experiments.ts';
import { createExperimentRuns } from '../domain/experiments/runs.ts';
import { createGateway } from '../domain/gateway/gateway.ts';
import type { AskModel } from '../domain/gateway/model-request.ts';
import { createMonitors } from '../domain/monitors/monitors.ts';
import { createProjectSettings } from '../domain/organization/project-settings.ts';
import { createPriceOverrides } from '../domain/pricing/overrides.ts';
import { createPromptReads } from '../domain/prompts/prompt-reads.ts';
import { createPromptTags } from '../domain/prompts/prompt-tags.ts';
import { createPromptTry } from '../domain/prompts/prompt-try.ts';
import { createPrompts } from '../domain/prompts/prompts.ts';
import { createSpend } from '../domain/spend/spend.ts';
import { createTraceDeletions } from '../domain/traces/deletion/trace-deletions.ts';
import { createTraceExports } from '../domain/traces/export/trace-export.ts';
import { createTraceLogs } from '../domain/traces/logs/trace-logs.ts';
import { createTraceFacets } from '../domain/traces/search/trace-facets.ts';
import { createTraceShares } from '../domain/traces/sharing/trace-shares.ts';
import type { ChangeFeed } from '../domain/traces/tail/change-feed.ts';
import { createTraceTails } from '../domain/traces/tail/trace-tail.ts';
import { createTraceChanges } from '../domain/traces/trace-changes.ts';
import { createSavedViews } from '../domain/traces/views/saved-views.ts';
import { createTimeseriesRpc } from '../rpc/analytics/timeseries.ts';
import { createDashboardRpc, createGraphRpc } from '../rpc/dashboards/dashboards.ts';
import { createDatasetRpc } from '../rpc/datasets/datasets.ts';
import { createEndpointRpc } from '../rpc/endpoints/endpoints.ts';
import { createEvaluationRpc } from '../rpc/evaluations/evaluations.ts';
import { createEvaluatorRpc } from '../rpc/evaluators/evaluators.ts';
import { createEventRpc } from '../rpc/events/events.ts';
import { createExperimentRpc } from '../rpc/experiments/experiments.ts';
import { createGatewayRpc } from '../rpc/gateway/gateway.ts';
import { createPermissionRpc } from '../rpc/keys/permissions.ts';
import type { Method } from '../rpc/method.ts';
import { createMonitorRpc } from '../rpc/monitors/monitors.ts';
import { createPricingRpc } from '../rpc/pricing/pricing.ts';
import { createPromptRpc } from '../rpc/prompts/prompts.ts';
import { compileService } from '../rpc/registry.ts';
import { createSavedViewRpc } from '../rpc/saved-views/saved-views.ts';
import { createSpendRpc } from '../rpc/spend/spend.ts';
import { createThreadRpc } from '../rpc/threads/threads.ts';
import { createTraceDeletionRpc } from '../rpc/trace-deletions/trace-deletions.ts';
import { createTraceShareRpc } from '../rpc/trace-shares/trace-shares.ts';
import { createOtlpMethods, type OtlpRpcDeps } from '../rpc/traces/otlp.ts';
import { createTraceRpc } from '../rpc/traces/traces.ts';
import { waitUnref } from '../scheduling/schedule.ts';
import type { Deps } from './deps.ts';
import { compileGateway } from './gateway-services.ts';
import { compileManagement } from './management-services.ts';
import { compilePeople } from './people-services.ts';
import type { ServiceParts } from './service-parts.ts';
import { compileSessions } from './sign-in.ts';
import type { createTraceParts } from './trace-parts.ts';
import { compileTriggers, type Triggering } from './trigger-services.ts';

type ServiceDeps = Deps &
  Pick<OtlpRpcDeps, 'onSpans' | 'runCooperatively'> & {
    readonly webhooks: WebhookPorts;
    readonly triggering: Triggering;
    readonly evaluations: EvaluationPorts & { readonly evaluations: Evaluations };
    readonly traceParts: ReturnType<typeof createTraceParts>;
    /** Asks a model through the gateway, once it is there; null: the gateway is off. */
    readonly askModel: () => AskModel | null;
    readonly requestMeter: RequestMeter;
    /** Called after a deletion of traces was started or cancelled. */
    readonly onTraceDeletionChanged: () => void;
    /** Publishes the traces that this process changes. */
    readonly changeFeed: ChangeFeed;
    /** Called with the number of records of OpenTelemetry that are not kept. */
    readonly onDiscarded: (signal: 'logs' | 'metrics', records: number) => void;
    /** Resolves in a later turn of the event loop. */
    readonly yieldToEventLoop: () => Promise<void>;
  };

/** `publicUrl` is the base of links, known once the server listens. */
export function compileServices(deps: ServiceDeps, publicUrl: () => string): Method[] {
  const { limits } = deps.config;
  const compile: ServiceParts['compile'] = (service, implementation) => compileService(service, implementation, limits);
  const shared = { cursors: createCursorCodec(deps.rootKeys.cursorKey), compile, publicUrl };
  const methods = [
    ...compileData(deps, shared),
    ...compilePeople(deps, shared),
    ...compileEvaluations(deps, shared),
    ...compileManagement(deps, shared),
    ...compileSessions(deps, shared),
    ...compileWebhooks(deps, shared),
    ...compileGateway(deps, shared),
    ...compileTriggers(deps, shared),
  ];
  return [...methods, ...compile(PermissionService, createPermissionRpc(methods))];
}

function compileData(deps: ServiceDeps, shared: ServiceParts): Method[] {
  const { cursors, compile, publicUrl } = shared;
  const { store, random, clock, config, requestMeter: meter, onDiscarded, runCooperatively, changeFeed, log } = deps;
  const { retentionNowMs } = deps;
  const { checkPatterns } = deps.evaluations;
  const linkTo = (kind: string) => (project: Project, id: string) =>
    `${publicUrl()}/${project.slug}/${kind}/${encodeURIComponent(id)}`;
  const { limits } = config;
  const traceDefaultDays = config.traceRetentionDays;
  const { prices, traces, searches } = deps.traceParts;
  const changes = createTraceChanges({ store: store.traceChanges, traceDefaultDays, limits: limits.traces });
  const onChanged = deps.onTraceDeletionChanged;
  const deletions = createTraceDeletions({
    ...{ management: store.management, store: store.traceDeletions, searches, random, retentionNowMs, onChanged },
  });
  const shares = createTraceShares({
    ...{ management: store.management, store: store.traceShares, traces, findProject: store.keys.findProject, random },
    ...{ pepper: deps.rootKeys.pepper, retentionNowMs },
    isOn: config.traceSharing,
  });
  const views = createSavedViews({ store: store.savedViews, cursors, random });
  const exports = createTraceExports({ searches, traces, store: store.traces, runCooperatively, clock });
  const analytics = createAnalytics({ store: store.analytics, traceDefaultDays });
  const dashboards = createDashboards({ store: store.dashboards, random });
  const gateway = createGateway({
    store: {
      ...store.requests,
      numbers: store.projects.numbers,
      budgetIds: store.management.budgetIds,
      virtualKeyProjects: store.management.virtualKeyProjects,
    },
    prices,
    meter,
    runCooperatively,
  });
  const facets = createTraceFacets({ store: store.search, traceDefaultDays });
  const tails = createTraceTails({
    search: store.search,
    searches,
    traces,
    keys: store.keys,
    feed: changeFeed,
    isSingleProcess: store.isSingleProcess,
    clock,
    wait: waitUnref,
    pause: waitUnref,
    limits,
    traceDefaultDays,
    onError: (error) => log.warn({ err: error }, 'what changed in a project could not be read for those who follow it'),
  });
  const logs = createTraceLogs({
    ...{ traces, runCooperatively, store: store.traces, records: store.logRecords, limits: limits.traces },
    onUnread: (records) => onDiscarded('logs', records),
  });
  const settings = createProjectSettings({
    ...{ store: store.projects, management: store.management, random, traceDefaultDays },
  });
  const overrides = createPriceOverrides({ store: store.management, random });
  const evaluators = createEvaluators({ store: store.evaluators, random, checkPatterns, cursors });
  const monitors = createMonitors({
    store: store.monitors,
    jobs: store.evaluationJobs,
    evaluators: store.evaluators,
    checkPatterns,
    random,
  });
  return [
    ...createOtlpMethods(
      {
        ...{ traces, logs, runCooperatively, spansMax: limits.traces.spansMax, onSpans: deps.onSpans },
        onDiscarded: (metrics) => onDiscarded('metrics', metrics),
      },
      limits,
    ),
    ...compile(
      TraceService,
      createTraceRpc({
        ...{ traces, logs, changes, searches, facets, exports, tails, analytics, settings, runCooperatively },
        platformUrl: linkTo('traces'),
      }),
    ),
    ...compile(ThreadService, createThreadRpc({ threads: deps.traceParts.threads })),
    ...compile(
      TimeseriesService,
      createTimeseriesRpc(createTimeseries({ analytics, passedMs: () => performance.now() })),
    ),
    ...compile(DashboardService, createDashboardRpc({ dashboards, platformUrl: linkTo('dashboards') })),
    ...compile(GraphService, createGraphRpc(dashboards)),
    ...compile(TraceDeletionService, createTraceDeletionRpc({ deletions, searches })),
    ...compile(TraceShareService, createTraceShareRpc({ shares, urlOf: (token) => `${publicUrl()}/shared/${token}` })),
    ...compile(SavedViewService, createSavedViewRpc({ views })),
    ...compile(GatewayService, createGatewayRpc({ gateway })),
    ...compile(PricingService, createPricingRpc({ overrides, prices })),
    ...compile(EventService, createEventRpc({ events: createEvents({ store: store.events, cursors }) })),
    ...compile(SpendService, createSpendRpc({ spend: createSpend({ store: store.spend, cursors }) })),
    ...compile(EvaluatorService, createEvaluatorRpc({ evaluators, platformUrl: linkTo('evaluators') })),
    ...compileExperiments(deps, shared),
    ...compilePrompts(deps, shared, linkTo('prompts')),
    ...compile(MonitorService, createMonitorRpc({ monitors, platformUrl: linkTo('monitors') })),
  ];
}

function compileExperiments(
  { store, random, traceParts: { searches }, runCooperatively, yieldToEventLoop }: ServiceDeps,
  { cursors, compile }: ServiceParts,
): Method[] {
  const datasets = createDatasets({ store: store.datasets, random, searches, runCooperatively, yieldToEventLoop });
  const experiments = createExperiments({ store: store.experiments, random });
  const comparisons = createRunComparisons({ store: store.experiments, cursors });
  const runs = createExperimentRuns({ store: store.experiments, datasets, random, cursors });
  return [
    ...compile(DatasetService, createDatasetRpc({ datasets, searches })),
    ...compile(ExperimentService, createExperimentRpc({ experiments, comparisons, runs })),
  ];
}

function compilePrompts(
  { store: { prompts: store, management: virtualKeys, keys }, random, askModel: ask, evaluations }: ServiceDeps,
  { cursors, compile }: ServiceParts,
  platformUrl: (project: Project, id: string) => string,
): Method[] {
  const tags = createPromptTags({ store, random });
  const prompts = createPrompts({ store, tags, random, cursors });
  const reads = createPromptReads({ prompts });
  const tryPrompt = createPromptTry({
    ...{ prompts, virtualKeys, keys, ask, monotonicMs: () => performance.now() },
    render: evaluations.renderTexts,
  });
  return compile(PromptService, createPromptRpc({ prompts, reads, tags, tryPrompt, platformUrl }));
}

function compileEvaluations(
  { store, random, retentionNowMs, config, evaluations: ports, traceParts }: ServiceDeps,
  { compile, publicUrl }: ServiceParts,
): Method[] {
  return compile(
    EvaluationService,
    createEvaluationRpc({
      ...ports,
      ...traceParts,
      runs: createEvaluatorRuns({
        ...{ store: store.evaluatorRuns, evaluators: store.evaluators, random, retentionNowMs },
        onChanged: ports.onRunChanged,
      }),
      analytics: createAnalytics({ store: store.analytics, traceDefaultDays: config.traceRetentionDays }),
      docsUrl: () => `${publicUrl()}/docs`,
    }),
  );
}

function compileWebhooks(
  { store, random, clock, config, webhooks, log }: ServiceDeps,
  { cursors, compile }: ServiceParts,
): Method[] {
  const endpoints = createEndpoints({
    ...webhooks,
    store: store.management,
    webhooks: store.webhooks,
    webhookLog: store.webhookLog,
    random,
    clock,
    cursors,
    endpointsMax: config.webhooks.endpointsMax,
    onTestUnrecorded: (error) => log.warn({ err: error }, 'the end of a webhook test could not be recorded'),
  });
  return compile(EndpointService, createEndpointRpc({ endpoints }));
}
