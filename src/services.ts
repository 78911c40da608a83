/** Wires every service of the contract with its rules. */

import { EndpointService } from '../gen/spandrel/v1/endpoints_pb.js';
import { EvaluationService } from '../gen/spandrel/v1/evaluations_pb.js';
import { EvaluatorService } from '../gen/spandrel/v1/evaluators_pb.js';
import { EventService } from '../gen/spandrel/v1/events_pb.js';
import { GatewayService } from '../gen/spandrel/v1/gateway_pb.js';
import { ApiKeyService } from '../gen/spandrel/v1/keys_pb.js';
import { MonitorService } from '../gen/spandrel/v1/monitors_pb.js';
import {
  AuditLogService,
  MemberService,
  OrganizationService,
  ProjectService,
  RoleBindingService,
  TeamService,
} from '../gen/spandrel/v1/organization_pb.js';
import { PermissionService } from '../gen/spandrel/v1/permissions_pb.js';
import { PricingService } from '../gen/spandrel/v1/pricing_pb.js';
import { SpendService } from '../gen/spandrel/v1/spend_pb.js';
import { TraceService } from '../gen/spandrel/v1/traces_pb.js';
import type { Config } from './config/config.ts';
import { createAnalytics } from './domain/analytics/analytics.ts';
import type { Project } from './domain/caller.ts';
import type { Clock, RandomBytes } from './domain/clock.ts';
import { type CursorCodec, createCursorCodec } from './domain/cursor.ts';
import { createEndpoints } from './domain/endpoints/endpoints.ts';
import { createEvaluations } from './domain/evaluations/evaluations.ts';
import { createEvaluatorRuns } from './domain/evaluations/evaluator-runs.ts';
import { createTraceResults, type TraceResults } from './domain/evaluations/trace-results.ts';
import { createEvaluators } from './domain/evaluators/evaluators.ts';
import { createEvents } from './domain/events/events.ts';
import type { RequestMeter } from './domain/events/request-meter.ts';
import { createGateway } from './domain/gateway/gateway.ts';
import { createApiKeys } from './domain/keys/keys.ts';
import { createMonitors } from './domain/monitors/monitors.ts';
import { createAuditLog } from './domain/organization/audit-log.ts';
import { createMembers } from './domain/organization/members.ts';
import { createOrganizations } from './domain/organization/organization.ts';
import { createProjectSettings } from './domain/organization/project-settings.ts';
import { createProjects } from './domain/organization/projects.ts';
import { createRoleBindings } from './domain/organization/role-bindings.ts';
import { createTeams } from './domain/organization/teams.ts';
import { createPriceOverrides } from './domain/pricing/overrides.ts';
import { createPriceResolver, type PriceResolver } from './domain/pricing/prices.ts';
import type { Pricing } from './domain/pricing/pricing.ts';
import type { RootKeys } from './domain/secrets.ts';
import { createSpend } from './domain/spend/spend.ts';
import type { RunSteps } from './domain/steps.ts';
import type { Store } from './domain/store.ts';
import type { CollectorLimits } from './domain/traces/collector/collector-reading.ts';
import { createTraceExports } from './domain/traces/export/trace-export.ts';
import { createTraceSearches, type TraceSearches } from './domain/traces/search/trace-search.ts';
import type { ChangeFeed } from './domain/traces/tail/change-feed.ts';
import { createTraceTails } from './domain/traces/tail/trace-tail.ts';
import { createTraceChanges } from './domain/traces/trace-changes.ts';
import { createTraces, type Traces } from './domain/traces/traces.ts';
import type { EvaluationPorts } from './evaluations.ts';
import { compileExperiments } from './experiments.ts';
import { createEndpointRpc } from './rpc/endpoints/endpoints.ts';
import { createEvaluationRpc } from './rpc/evaluations/evaluations.ts';
import { createEvaluatorRpc } from './rpc/evaluators/evaluators.ts';
import { createEventRpc } from './rpc/events/events.ts';
import { createGatewayRpc } from './rpc/gateway/gateway.ts';
import { createKeyRpc } from './rpc/keys/keys.ts';
import { createPermissionRpc } from './rpc/keys/permissions.ts';
import type { Method } from './rpc/method.ts';
import { createMonitorRpc } from './rpc/monitors/monitors.ts';
import { createOrganizationRpc, createTeamRpc } from './rpc/organization/organization.ts';
import { createAuditLogRpc } from './rpc/organization/organization-audit-log.ts';
import { createMemberRpc } from './rpc/organization/organization-members.ts';
import { createProjectRpc } from './rpc/organization/organization-projects.ts';
import { createRoleBindingRpc } from './rpc/organization/organization-role-bindings.ts';
import { createPricingRpc } from './rpc/pricing/pricing.ts';
import { compileService, type Sizes } from './rpc/registry.ts';
import { createSpendRpc } from './rpc/spend/spend.ts';
import { createOtlpMethods, type OtlpRpcDeps } from './rpc/traces/otlp.ts';
import { createTraceRpc } from './rpc/traces/traces.ts';
import { waitUnref } from './schedule.ts';
import { isPostgres } from './storage/open.ts';
import type { WebhookPorts } from './webhooks.ts';

type ServiceDeps = {
  readonly config: Config;
  readonly store: Store;
  readonly rootKeys: RootKeys;
  readonly pricing: Pricing;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly webhooks: WebhookPorts;
  readonly evaluations: EvaluationPorts;
  readonly traceParts: TraceParts;
  readonly requestMeter: RequestMeter;
  /** Publishes the traces that this process changes. */
  readonly changeFeed: ChangeFeed;
  readonly onDiscarded: OtlpRpcDeps['onDiscarded'];
  readonly runSteps: RunSteps;
  /** Resolves in a later turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  readonly log: { warn(fields: object, message: string): void };
};

/** `publicUrl` is the base of links, known once the server listens. */
export function compileServices(deps: ServiceDeps, publicUrl: () => string): Method[] {
  const cursors = createCursorCodec(deps.rootKeys.cursorKey);
  const sizes = { ingestBytesMax: deps.config.limits.bodyMaxBytes };
  const methods = [
    ...compileData(deps, { cursors, sizes, publicUrl }),
    ...compileEvaluations(deps, { sizes, publicUrl }),
    ...compileManagement(deps, { cursors, sizes }),
    ...compileWebhooks(deps, { cursors, sizes }),
  ];
  return [...methods, ...compileService(PermissionService, createPermissionRpc(methods), sizes)];
}

type Shared = { readonly cursors: CursorCodec; readonly sizes: Sizes };

function compileData(
  deps: ServiceDeps,
  { cursors, sizes, publicUrl }: Shared & { readonly publicUrl: () => string },
): Method[] {
  const { store, random, clock, config, requestMeter: meter, onDiscarded, runSteps, evaluations } = deps;
  const { changeFeed, log } = deps;
  const linkTo = (kind: string) => (project: Project, id: string) =>
    `${publicUrl()}/${project.slug}/${kind}/${encodeURIComponent(id)}`;
  const traceLimits = traceLimitsOf(config);
  const traceDefaultDays = config.traceRetentionDays;
  const { prices, traces, searches } = deps.traceParts;
  const changes = createTraceChanges({ store: store.traceChanges, traceDefaultDays, limits: traceLimits });
  const exports = createTraceExports({ searches, traces, store: store.traces, clock });
  const analytics = createAnalytics({ store: store.analytics, traceDefaultDays });
  const gateway = createGateway({ store: store.requests, prices, meter, runSteps });
  const tails = createTraceTails({
    search: store.search,
    searches,
    traces,
    keys: store.keys,
    feed: changeFeed,
    isShared: isPostgres(config.databaseUrl),
    clock,
    wait: waitUnref,
    pause: waitUnref,
    limits: config.limits,
    traceDefaultDays,
    onError: (error) => log.warn({ err: error }, 'what changed in a project could not be read for those who follow it'),
  });
  const settings = createProjectSettings({ store: store.projects, traceDefaultDays });
  return [
    ...createOtlpMethods({ traces, onDiscarded, runSteps, spansMax: traceLimits.spansMax }, sizes),
    ...compileService(
      TraceService,
      createTraceRpc({
        ...{ traces, changes, searches, exports, tails, analytics, settings, runSteps },
        platformUrl: linkTo('traces'),
      }),
      sizes,
    ),
    ...compileService(GatewayService, createGatewayRpc({ gateway }), sizes),
    ...compileService(
      PricingService,
      createPricingRpc({ overrides: createPriceOverrides({ store: store.management, random }), prices }),
      sizes,
    ),
    ...compileService(EventService, createEventRpc({ events: createEvents({ store: store.events, cursors }) }), sizes),
    ...compileService(SpendService, createSpendRpc({ spend: createSpend({ store: store.spend, cursors }) }), sizes),
    ...compileService(
      EvaluatorService,
      createEvaluatorRpc({
        evaluators: createEvaluators({ store: store.evaluators, random, checkPatterns: evaluations.checkPatterns }),
        platformUrl: linkTo('evaluators'),
      }),
      sizes,
    ),
    ...compileExperiments({ store, random, searches, cursors, runSteps, nextTurn: deps.nextTurn }, sizes),
    ...compileService(
      MonitorService,
      createMonitorRpc({
        monitors: createMonitors({
          store: store.monitors,
          jobs: store.evaluationJobs,
          evaluators: store.evaluators,
          checkPatterns: evaluations.checkPatterns,
          random,
        }),
        platformUrl: linkTo('monitors'),
      }),
      sizes,
    ),
  ];
}

type TraceParts = {
  readonly prices: PriceResolver;
  readonly traces: Traces;
  readonly searches: TraceSearches;
  readonly results: TraceResults;
};

/** The parts for traces that several services and background jobs share. */
export function createTraceParts({
  store,
  config,
  pricing,
  rootKeys,
  runSteps,
}: Pick<ServiceDeps, 'store' | 'config' | 'pricing' | 'rootKeys' | 'runSteps'>): TraceParts {
  const cursors = createCursorCodec(rootKeys.cursorKey);
  const limits = traceLimitsOf(config);
  const traceDefaultDays = config.traceRetentionDays;
  const prices = createPriceResolver({ pricing, store: store.management, runSteps });
  const traces = createTraces({ store: store.traces, cursors, prices, runSteps, traceDefaultDays, limits });
  return {
    prices,
    traces,
    searches: createTraceSearches({ store: store.search, traces, cursors, traceDefaultDays }),
    results: createTraceResults({ store: store.traces, limits, traceDefaultDays }),
  };
}

function traceLimitsOf({ limits }: Config): CollectorLimits {
  return {
    spansMax: limits.spansPerRequestMax,
    spansPerTraceMax: limits.spansPerTraceMax,
    evaluationsMax: limits.evaluationsPerRequestMax,
    stringMaxBytes: limits.stringMaxBytes,
    freeJsonDepthMax: limits.jsonDepthMax,
    futureMaxMs: limits.futureMaxMs,
  };
}

function compileEvaluations(
  { store, clock, random, config, evaluations: ports, traceParts, log }: ServiceDeps,
  { sizes, publicUrl }: Pick<Shared, 'sizes'> & { readonly publicUrl: () => string },
): Method[] {
  const { checkPatterns, run, onRunChanged } = ports;
  const { evaluators, monitors } = store;
  const { results } = traceParts;
  const onLost = (error: unknown) => log.warn({ err: error }, 'the result of an evaluation could not be stored');
  return compileService(
    EvaluationService,
    createEvaluationRpc({
      ...ports,
      ...traceParts,
      evaluations: createEvaluations({ evaluators, monitors, run, checkPatterns, results, clock, random, onLost }),
      runs: createEvaluatorRuns({ store: store.evaluatorRuns, evaluators, random, onChanged: onRunChanged }),
      analytics: createAnalytics({ store: store.analytics, traceDefaultDays: config.traceRetentionDays }),
      docsUrl: () => `${publicUrl()}/docs`,
    }),
    sizes,
  );
}

function compileManagement(
  { store: { management: store }, random, clock, config, rootKeys }: ServiceDeps,
  { cursors, sizes }: Shared,
): Method[] {
  const [keyPrefix = 'sk-lw-'] = config.keyPrefixes;
  const { pepper } = rootKeys;
  const organizations = createOrganizations({ store, random });
  const teams = createTeams({ store, random });
  const members = createMembers({ store, random, cursors });
  const roleBindings = createRoleBindings({ store, random, cursors });
  const auditLog = createAuditLog({ store, cursors, retentionDays: config.auditRetentionDays });
  return [
    ...compileService(
      ApiKeyService,
      createKeyRpc({ keys: createApiKeys({ store, random, clock, cursors, pepper, keyPrefix }) }),
      sizes,
    ),
    ...compileService(OrganizationService, createOrganizationRpc({ organizations }), sizes),
    ...compileService(TeamService, createTeamRpc({ teams }), sizes),
    ...compileService(
      ProjectService,
      createProjectRpc({ projects: createProjects({ store, random, pepper, keyPrefixes: config.keyPrefixes }) }),
      sizes,
    ),
    ...compileService(MemberService, createMemberRpc({ members }), sizes),
    ...compileService(RoleBindingService, createRoleBindingRpc({ roleBindings }), sizes),
    ...compileService(AuditLogService, createAuditLogRpc({ auditLog }), sizes),
  ];
}

function compileWebhooks(
  { store, random, clock, config, webhooks, log }: ServiceDeps,
  { cursors, sizes }: Shared,
): Method[] {
  const endpoints = createEndpoints({
    ...webhooks,
    store: store.management,
    webhooks: store.webhooks,
    random,
    clock,
    cursors,
    endpointsMax: config.webhooks.endpointsMax,
    onTestUnrecorded: (error) => log.warn({ err: error }, 'the end of a webhook test could not be recorded'),
  });
  return compileService(EndpointService, createEndpointRpc({ endpoints }), sizes);
}
