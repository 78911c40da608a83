/** Wires triggers: the evaluation of metrics, the job of triggers on traces, and notifications. */

import type { Deps } from '../app/deps.ts';
import { createMailSender } from '../delivery/mail.ts';
import type { Analytics } from '../domain/analytics/analytics.ts';
import type { UrlPolicy } from '../domain/endpoints/url-policy.ts';
import { createTriggerSecrets } from '../domain/triggers/action-params.ts';
import { createEvaluation } from '../domain/triggers/evaluation.ts';
import { type AddToQueue, createNotifying, type NotifyingDeps } from '../domain/triggers/notifying.ts';
import type { TraceRunDeps } from '../domain/triggers/trace-run.ts';
import type { ActionRefusal } from '../domain/triggers/triggers.ts';
import type { TriggerMeter } from '../metrics/trigger-meter.ts';
import { type Loop, startLoop, waitUnref } from '../scheduling/schedule.ts';
import type { createWebhooks } from './webhooks.ts';

type TriggeringDeps = Pick<Deps, 'config' | 'rootKeys' | 'clock' | 'retentionNowMs' | 'random' | 'log'> & {
  readonly webhooks: Pick<ReturnType<typeof createWebhooks>, 'ports' | 'sendJson'>;
  readonly meter: TriggerMeter;
  readonly addToQueue: AddToQueue;
};

type WorkDeps = Pick<Deps, 'store' | 'clock'> &
  Pick<NotifyingDeps, 'datasets' | 'linkTo'> & { readonly analytics: Pick<Analytics, 'query' | 'queryEvaluations'> };

const POLL_MS = 1_000;
const RETRY_MS = 5_000;
/** Of the time that evaluating took: other work of the process comes in between. */
const REST_SHARE = 0.5;
/** Traces that settle within this time are matched together. */
const TOGETHER_MS = 2;
const DAY_MS = 86_400_000;
const PRUNE_EVERY_MS = 60_000;
const EVENTS_KEPT_MS = 90 * DAY_MS;

export function createTriggering(deps: TriggeringDeps) {
  const { config, rootKeys, clock, retentionNowMs, random, webhooks, meter, addToQueue, log } = deps;
  const secrets = createTriggerSecrets({ encryptionKeys: rootKeys.encryptionKeys, random });
  const policy: UrlPolicy = webhooks.ports.urlPolicy;
  const { resolve } = webhooks.ports;
  const { mailServer } = config;
  const sendMail = mailServer === null ? null : createMailSender({ server: mailServer, policy, resolve });
  const stopping = new AbortController();
  const loops: Loop[] = [];
  let notifier: Loop | null = null;

  /** Runs a step again at once while there is work, and waits where there is none. */
  const repeat = (step: Step, failed: string, restShare: number) =>
    startLoop({
      ...{ retryDelayMs: RETRY_MS, wait: waitUnref },
      async run(signal) {
        const startedAtMs = performance.now();
        const done = await step(signal);
        return done === 0 ? POLL_MS : (performance.now() - startedAtMs) * restShare;
      },
      onError: (error) => log.warn({ err: error }, failed),
    });

  const onNotice = () => notifier?.wake();
  return {
    secrets,
    /** Called after something may be due. */
    wake() {
      for (const loop of loops) loop.wake();
    },
    whyUnavailable: ((action) => {
      if (action === 'SEND_EMAIL' && sendMail === null) {
        return 'This server sends no e-mails: its operator has to set SPANDREL_SMTP_URL and SPANDREL_SMTP_FROM.';
      }
      return null;
    }) satisfies ActionRefusal,
    /** What the job of triggers on traces needs. */
    traceRun: (store: Deps['store']): TraceRunDeps => ({
      ...{ triggers: store.triggers, search: store.search, keys: store.keys, clock, random, log },
      ...{ traceDefaultDays: config.traceRetentionDays, retentionNowMs },
      pause: () => waitUnref(TOGETHER_MS, stopping.signal),
      onUntested: meter.untested,
      onFired(count) {
        meter.fired(count);
        onNotice();
      },
    }),
    /** Begins to evaluate and to notify. */
    work({ store, clock: nowMs, analytics, datasets, linkTo }: WorkDeps): void {
      const shared = { triggers: store.triggers, keys: store.keys, clock: nowMs, random };
      const monotonicMs = () => performance.now();
      const evaluated = { onNotice, onEvaluated: meter.evaluated };
      const evaluations = createEvaluation({ ...shared, ...evaluated, analytics, monotonicMs });
      const notifying = createNotifying({
        ...{ ...shared, secrets, datasets, sendMail, addToQueue, linkTo, log },
        organizations: store.management,
        postJson: webhooks.sendJson,
        onAttempt: meter.notified,
      });
      const prune = createPruning(store, retentionNowMs);
      const isSingleProcess = store.evaluationJobs.isSingleProcess;
      const begin = isSingleProcess ? once(() => store.triggers.takeOver()) : async () => undefined;
      const sending = repeat(after(begin, notifying.step), 'notifications of triggers could not be sent', 0);
      notifier = { ...sending, stop: () => sending.stop().then(notifying.end) };
      loops.push(
        ...evaluations.map((evaluate) => repeat(after(begin, evaluate), 'triggers could not be evaluated', REST_SHARE)),
        notifier,
        repeat(prune, 'old entries of triggers could not be removed', 1),
      );
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Runs something until it has succeeded once. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work().catch((error: unknown) => {
      running = null;
      throw error;
    });
    return running;
  };
}

type Step = (signal: AbortSignal) => Promise<number>;

function after(begin: () => Promise<void>, step: Step): Step {
  return async (signal) => {
    await begin();
    return await step(signal);
  };
}

/** Removes old entries now and then. */
function createPruning({ triggers }: Deps['store'], retentionNowMs: Deps['retentionNowMs']): Step {
  let prunedAtMs: number | null = null;
  return async () => {
    const nowMs = performance.now();
    if (prunedAtMs !== null && nowMs - prunedAtMs < PRUNE_EVERY_MS) return 0;
    if ((await triggers.prune({ eventsMs: retentionNowMs() - EVENTS_KEPT_MS })) === 'more') return 1;
    prunedAtMs = nowMs;
    return 0;
  };
}
