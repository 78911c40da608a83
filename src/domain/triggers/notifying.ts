/**
 * Carries out what triggers ask for. Each notification is claimed by one process at a time; one whose process ended is
 * claimed again, under the same id. Events of webhooks and entries of datasets are stored in the transaction that ends
 * the notification, so that they exist once; receivers of Slack and mail see the same id again after a lost answer.
 */

import type { Project } from '../caller.ts';
import type { Clock, RandomBytes } from '../clock.ts';
import type { Datasets } from '../datasets/datasets.ts';
import type { AttemptResult } from '../endpoints/destination.ts';
import { Fault } from '../fault.ts';
import type { ManagementStore } from '../management/management.ts';
import type { KeyStore } from '../management/management-port.ts';
import type { TriggerSecrets } from './action-params.ts';
import { activeEmails, alertEvent, mailOf, type OutgoingMail, slackJson, type Told } from './messages.ts';
import type { ClaimedNotification, NotificationKey, TriggerStore } from './trigger-store.ts';

/** What became of an attempt. `ended`: it is stored already. */
export type Attempted =
  | { readonly kind: 'sent' | 'ended' }
  | {
      readonly kind: 'refused';
      readonly error: string;
      readonly isFinal: boolean;
      readonly retryAfterMs: number | null;
    };

/** Adds traces to a review queue, once however often it is called. Throws a Fault where the queue is gone or full. */
export type AddToQueue = (
  project: Project,
  queued: { readonly queueId: string; readonly traceIds: readonly string[]; readonly nowMs: number },
) => Promise<{ readonly added: number; readonly known: number }>;

export type NotifyingDeps = {
  readonly triggers: Pick<TriggerStore, 'claim' | 'end' | 'handOver'>;
  readonly keys: Pick<KeyStore, 'findProject'>;
  readonly organizations: Pick<ManagementStore, 'members'>;
  readonly secrets: TriggerSecrets;
  readonly datasets: Pick<Datasets, 'appendTraces'>;
  readonly postJson: (
    url: string,
    message: { readonly key: string; readonly json: string },
    signal: AbortSignal,
  ) => Promise<AttemptResult>;
  /** Null: this installation has no mail server. */
  readonly sendMail: ((mail: OutgoingMail, signal: AbortSignal) => Promise<Attempted>) | null;
  readonly addToQueue: AddToQueue;
  /** The page of the console about a record of a project. */
  readonly linkTo: (project: Project, kind: 'traces' | 'triggers', id: string) => string;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onAttempt: (action: string, outcome: 'sent' | 'retried' | 'failed') => void;
  readonly log: { warn(fields: object, message: string): void };
};

/** Longer than any attempt. */
const LEASE_MS = 60_000;
/** Attempts under way. */
const AT_ONCE = 32;
/** With so many of an organization, others come first: its receivers may take as long as an attempt may. */
const OF_ORGANIZATION = 4;
const FENCE_BYTES = 6;
const SECOND_MS = 1_000;
/** Delays before further attempts; after the last the notification has failed. */
const RETRY_MS = [10 * SECOND_MS, 60 * SECOND_MS, 300 * SECOND_MS, 900 * SECOND_MS, 3_600 * SECOND_MS];
const ERROR_CHARACTERS_MAX = 500;

export function createNotifying(deps: NotifyingDeps) {
  /** The attempts under way, by their organizations. */
  const underWay = new Map<Promise<void>, string | null>();

  function busyOrganizations(): readonly string[] {
    const byOrganization = Map.groupBy(underWay.values(), (organizationId) => organizationId);
    return [...byOrganization].flatMap(([id, all]) => (id !== null && all.length >= OF_ORGANIZATION ? [id] : []));
  }

  function begin(claimed: ClaimedNotification, signal: AbortSignal): void {
    const notifying = notify(deps, claimed, signal)
      // Its lease ends, and then it is tried again.
      .catch((error: unknown) => deps.log.warn({ err: error }, 'a notification of a trigger could not be stored'))
      .finally(() => underWay.delete(notifying));
    underWay.set(notifying, claimed.organizationId);
  }

  return {
    /** Begins to carry out some notifications that are due. Returns how many. */
    async step(signal: AbortSignal): Promise<number> {
      if (underWay.size >= AT_ONCE) await Promise.race(underWay.keys());
      const nowMs = deps.clock();
      const fence = deps.random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES) + 1;
      const lease = { nowMs, untilMs: nowMs + LEASE_MS, fence };
      const limit = Math.min(OF_ORGANIZATION, AT_ONCE - underWay.size);
      const claimed = await deps.triggers.claim({ ...lease, limit, notOf: busyOrganizations() });
      for (const each of claimed) begin(each, signal);
      return claimed.length;
    },
    /** Resolves once no attempt is under way. */
    async end(): Promise<void> {
      await Promise.all(underWay.keys());
    },
  };
}

async function notify(deps: NotifyingDeps, claimed: ClaimedNotification, signal: AbortSignal): Promise<void> {
  const { trigger, event, fence } = claimed;
  const key = { projectId: event.projectId, id: event.id, fence };
  const attempted = await attempt(deps, { ...claimed, key }, signal);
  const nowMs = deps.clock();
  if (attempted.kind !== 'refused') {
    if (attempted.kind === 'sent') await deps.triggers.end({ ...key, nowMs, outcome: { kind: 'sent' } });
    return deps.onAttempt(trigger.action, 'sent');
  }
  const error = attempted.error.slice(0, ERROR_CHARACTERS_MAX);
  const delayMs = attempted.isFinal ? undefined : RETRY_MS[event.attempts - 1];
  const isFailed = delayMs === undefined;
  const outcome = isFailed
    ? ({ kind: 'failed', error } as const)
    : ({ kind: 'retry', error, dueAtMs: nowMs + Math.max(delayMs, attempted.retryAfterMs ?? 0) } as const);
  await deps.triggers.end({ ...key, nowMs, outcome });
  deps.onAttempt(trigger.action, isFailed ? 'failed' : 'retried');
  const fields = { trigger: trigger.id, notification: event.id, attempt: event.attempts, reason: error };
  deps.log.warn(fields, isFailed ? 'a notification of a trigger failed' : 'a notification of a trigger is tried again');
}

type Attempting = ClaimedNotification & { readonly key: NotificationKey };

async function attempt(deps: NotifyingDeps, claimed: Attempting, signal: AbortSignal): Promise<Attempted> {
  try {
    const project = await deps.keys.findProject(claimed.trigger.projectId);
    if (project === null) return final('The project is archived.');
    return await carryOut(deps, { ...claimed, project }, signal);
  } catch (error) {
    if (!(error instanceof Fault)) deps.log.warn({ err: error }, 'an action of a trigger could not be carried out');
    const isFinal = error instanceof Fault && error.kind !== 'unavailable';
    return {
      kind: 'refused',
      error: error instanceof Fault ? error.message : 'internal error',
      isFinal,
      retryAfterMs: null,
    };
  }
}

async function carryOut(
  deps: NotifyingDeps,
  { trigger, event, key, project }: Attempting & { readonly project: Project },
  signal: AbortSignal,
): Promise<Attempted> {
  const told = { trigger, event, project, linkTo: deps.linkTo };
  switch (trigger.action) {
    case 'SEND_WEBHOOK': {
      const { organizationId } = project;
      await deps.triggers.handOver({ ...key, organizationId, event: alertEvent(told), nowMs: deps.clock() });
      return { kind: 'ended' };
    }
    case 'SEND_SLACK_MESSAGE': {
      const url = deps.secrets.open(trigger);
      if (url === null) return final('The trigger has no URL.');
      const result = await deps.postJson(url, { key: event.id, json: slackJson(told) }, signal);
      if (result.kind === 'accepted') return { kind: 'sent' };
      return { kind: 'refused', error: result.error, isFinal: result.terminalHint, retryAfterMs: result.retryAfterMs };
    }
    case 'SEND_EMAIL':
      return await sendMail(deps, told, signal);
    case 'ADD_TO_DATASET': {
      const { added } = await deps.datasets.appendTraces(project, trigger.actionParams.datasetId ?? '', {
        search: searchFor(event.traceIds),
        limit: event.traceIds.length,
        call: { project, nowMs: deps.clock(), countResponseBytes: () => {} },
        asked: key,
      });
      return added > 0 ? { kind: 'ended' } : final('The dataset is full, or the trace is gone.');
    }
    case 'ADD_TO_ANNOTATION_QUEUE': {
      const queueId = trigger.actionParams.queueId ?? '';
      const { added, known } = await deps.addToQueue(project, {
        queueId,
        traceIds: event.traceIds,
        nowMs: deps.clock(),
      });
      return added + known > 0 ? { kind: 'sent' } : final('The trace is gone.');
    }
  }
}

/** Who was removed or disabled meanwhile gets no mail any more. */
async function sendMail({ organizations, sendMail: send }: NotifyingDeps, told: Told, signal: AbortSignal) {
  if (send === null) return final('This server has no mail server: SPANDREL_SMTP_URL is not set.');
  const active = activeEmails(await organizations.members(told.project.organizationId));
  const mail = mailOf(told);
  const to = mail.to.filter((address) => active.has(address.toLowerCase()));
  return to.length === 0 ? final('None of its members is active any more.') : await send({ ...mail, to }, signal);
}

function final(error: string): Attempted {
  return { kind: 'refused', error, isFinal: true, retryAfterMs: null };
}

function searchFor(traceIds: readonly string[]) {
  const everything = { query: '', filters: [], negateFilters: false, isByUpdate: false };
  return { ...everything, traceIds, startMs: 0, endMs: Number.MAX_SAFE_INTEGER };
}
