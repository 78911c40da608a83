/** Wires the service of triggers, and what carries them out. */

import { TriggerService } from '../../gen/spandrel/v1/triggers_pb.js';
import type { createTriggering } from '../background/triggers.ts';
import type { WebhookPorts } from '../background/webhooks.ts';
import { createAnalytics } from '../domain/analytics/analytics.ts';
import type { Project } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { createDatasets } from '../domain/datasets/datasets.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import type { TraceSearches } from '../domain/traces/search/trace-search.ts';
import type { TraceRunDeps } from '../domain/triggers/trace-run.ts';
import { createTriggers } from '../domain/triggers/triggers.ts';
import type { Method } from '../rpc/method.ts';
import { createTriggerRpc } from '../rpc/triggers/triggers.ts';
import type { Deps } from './deps.ts';
import type { ServiceParts } from './service-parts.ts';

export type Triggering = ReturnType<typeof createTriggering>;

type TriggerServiceDeps = Pick<Deps, 'store' | 'random'> & {
  readonly triggering: Triggering;
  readonly webhooks: WebhookPorts;
};

export function compileTriggers(
  { store, random, triggering, webhooks: { urlPolicy, resolve } }: TriggerServiceDeps,
  { cursors, compile, publicUrl }: ServiceParts,
): Method[] {
  const { secrets, whyUnavailable, wake: onChanged } = triggering;
  const triggers = createTriggers({
    ...{ store: store.triggers, datasets: store.datasets, queues: store.annotationQueues },
    organizations: store.management,
    ...{ secrets, urlPolicy, resolve, whyUnavailable },
    ...{ cursors, random, onChanged },
  });
  const link = linkTo(publicUrl);
  const platformUrl = (project: Project, id: string) => link(project, 'triggers', id);
  return compile(TriggerService, createTriggerRpc({ triggers, platformUrl }));
}

type WorkDeps = Pick<Deps, 'store' | 'random' | 'config'> & {
  readonly runCooperatively: RunCooperatively;
  readonly yieldToEventLoop: () => Promise<void>;
  readonly traceParts: { readonly searches: TraceSearches };
  /** The clock of leases, which all processes share. */
  readonly nowMs: Clock;
  readonly publicUrl: () => string;
};

/** Begins to evaluate triggers, and to carry out what they ask for. Returns what the job of triggers on traces needs. */
export function workOnTriggers(triggering: Triggering, deps: WorkDeps): TraceRunDeps {
  const { store, random, config, traceParts, runCooperatively, yieldToEventLoop, nowMs, publicUrl } = deps;
  const { searches } = traceParts;
  triggering.work({
    store,
    clock: nowMs,
    analytics: createAnalytics({ store: store.analytics, traceDefaultDays: config.traceRetentionDays }),
    datasets: createDatasets({ store: store.datasets, random, searches, runCooperatively, yieldToEventLoop }),
    linkTo: linkTo(publicUrl),
  });
  return triggering.traceRun(store);
}

function linkTo(publicUrl: () => string) {
  return (project: Project, kind: string, id: string) =>
    `${publicUrl()}/${project.slug}/${kind}/${encodeURIComponent(id)}`;
}
