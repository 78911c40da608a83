/** The triggers of a project. */

import type { QueueStore } from '../annotations/queue.ts';
import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import type { DatasetStore } from '../datasets/dataset.ts';
import { checkNewUrl, type ResolveHost, type UrlPolicy } from '../endpoints/url-policy.ts';
import { Fault, validationFault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { type Actor, auditRecord, changedFields } from '../management/audit.ts';
import type { ManagementStore } from '../management/management.ts';
import { customReason, refuseProblems } from '../reasons.ts';
import { byLastUpdate, resourceRules } from '../resources.ts';
import { type SentParams, storedParams, type TriggerSecrets } from './action-params.ts';
import { activeEmails } from './messages.ts';
import { type ActionParams, beginningState, type Trigger, type TriggerAction } from './trigger.ts';
import { readDraft, type TriggerContent, type TriggerDraft } from './trigger-draft.ts';
import {
  stateEvent,
  type TriggerEvent,
  type TriggerPage,
  type TriggerStore,
  type TriggerWithState,
} from './trigger-store.ts';

/** Tells why an action cannot be carried out; null: it can. The object of the action is known to have its parameters. */
export type ActionRefusal = (action: TriggerAction) => string | null;

type TriggerDeps = {
  readonly store: TriggerStore;
  readonly datasets: Pick<DatasetStore, 'find'>;
  readonly queues: Pick<QueueStore, 'find'>;
  readonly organizations: Pick<ManagementStore, 'members'>;
  readonly secrets: TriggerSecrets;
  readonly urlPolicy: UrlPolicy;
  readonly resolve: ResolveHost;
  readonly whyUnavailable: ActionRefusal;
  readonly cursors: CursorCodec;
  readonly random: RandomBytes;
  /** Called after a change that may make work due. */
  readonly onChanged: () => void;
};

type Call = {
  readonly project: Project;
  readonly actor: Actor;
  readonly nowMs: number;
  /** Throws unless the caller has the permission in the project. */
  readonly requirePermission: (permission: string) => void;
};
type Page = { readonly limit: number | null; readonly cursor: string };

const LIVE_MAX = 1_000;
const PAGE_DEFAULT = 50;
const AUDITED = {
  name: 'name',
  active: 'active',
  filters: 'filters',
  query: 'query',
  alertType: 'alertType',
  message: 'message',
  action: 'action',
  actionParams: 'actionParams',
  cadence: 'cadence',
  rule: 'rule',
} as const satisfies { readonly [field: string]: keyof Trigger };

const rules = resourceRules({
  noun: 'trigger',
  liveMax: LIVE_MAX,
  atLimit: 'delete one before creating another',
  isFlat: true,
});

export type Triggers = ReturnType<typeof createTriggers>;

export function createTriggers(deps: TriggerDeps) {
  const { store } = deps;
  return {
    /** Throws trigger_not_found, also for another project's. */
    get: (project: Project, id: string) => get(deps, project, id),
    /** All triggers of the project: the last updated first, then by id. */
    async list({ id }: Project): Promise<readonly TriggerWithState[]> {
      const all = await store.list(id);
      return all.toSorted((one, other) => byLastUpdate(one.trigger, other.trigger));
    },
    /** Throws trigger_not_found and invalid_cursor. */
    history: (project: Project, id: string, page: Page) => listHistory(deps, { project, id }, page),
    /** Throws validation_error, dataset_not_found, trigger_action_unavailable and trigger_limit_reached. */
    create: (call: Call, draft: TriggerDraft) => createTrigger(deps, call, draft),
    /** Throws what create throws, and trigger_not_found. Stores nothing when nothing changes. */
    update: (call: Call, change: { readonly id: string; readonly draft: TriggerDraft }) =>
      updateTrigger(deps, call, change),
    /** Returns its id. Throws trigger_not_found. */
    async remove({ project, actor, nowMs }: Call, id: string): Promise<string> {
      const audited = (targetId: string) =>
        auditRecord(actor, { action: 'trigger.delete', targetId }, { nowMs, random: deps.random });
      const remove = (projectId: string, triggerId: string, atMs: number) =>
        store.remove(projectId, triggerId, { nowMs: atMs, audited: audited(triggerId) });
      return await rules.remove({ find: store.find, remove }, project, { idOrSlug: id, nowMs });
    },
  };
}

async function get({ store }: Pick<TriggerDeps, 'store'>, project: Project, id: string): Promise<TriggerWithState> {
  const trigger = await rules.find(store, project, id);
  const state = await store.state(project.id, trigger.id);
  if (state === null) throw rules.notFound();
  return { trigger, state };
}

async function createTrigger(deps: TriggerDeps, call: Call, draft: TriggerDraft): Promise<TriggerWithState> {
  const { project, actor, nowMs } = call;
  const { content, params, problems } = readDraft(draft, null);
  refuseProblems(problems);
  await requireAction(deps, call, { content, params: params ?? {} });
  const state = beginningState(content, nowMs);
  const withoutSecret = { ...content, actionParams: storedParams(content.action, params ?? {}), secret: null };
  const seal = (id: string) => secretOf(deps, { id, action: content.action, params });
  const trigger = await rules.create(deps, { project, content: withoutSecret, nowMs }, (drawn) => {
    const audited = auditRecord(
      actor,
      { action: 'trigger.create', targetId: drawn.id, status: 201 },
      { nowMs, random: deps.random },
    );
    return deps.store.insert({ trigger: { ...drawn, secret: seal(drawn.id) }, state, audited }, LIVE_MAX);
  });
  deps.onChanged();
  return { trigger, state };
}

type Change = { readonly id: string; readonly draft: TriggerDraft };

async function updateTrigger(deps: TriggerDeps, call: Call, { id, draft }: Change): Promise<TriggerWithState> {
  const { project, nowMs } = call;
  const replace = (next: Trigger, knownAtMs: number, stored: Trigger) =>
    deps.store.replace(changeOf(deps, call, { stored, next }), knownAtMs);
  await rules.change({ find: deps.store.find, replace }, { project, idOrSlug: id, nowMs }, async (stored) => {
    const { content, params, problems } = readDraft(draft, stored);
    refuseProblems(problems);
    const isOther = content.action !== stored.action || params !== null;
    if (isOther) await requireAction(deps, call, { content, params: params ?? {} });
    else if (actsOtherwise(stored, content)) requirePermissions(call, content);
    const isKept = content.action === stored.action && (params === null || isSecretKept(content.action, params));
    return {
      ...stored,
      ...content,
      actionParams: isKept ? stored.actionParams : storedParams(content.action, params ?? {}),
      secret: isKept ? stored.secret : secretOf(deps, { id: stored.id, action: content.action, params }),
    };
  });
  deps.onChanged();
  return await get(deps, project, id);
}

/** Fields that change nothing of which traces the trigger takes, and of what it does with them. */
const DESCRIBING: ReadonlySet<string> = new Set(['name', 'message', 'alertType']);

/** Whether the trigger would act on other traces, or begin to act. */
function actsOtherwise(stored: Trigger, content: TriggerContent): boolean {
  const changed = changedFields<Trigger>(AUDITED, stored, { ...stored, ...content });
  return changed.some((field) => !DESCRIBING.has(field) && (field !== 'active' || content.active));
}

function isSecretKept(action: TriggerAction, params: SentParams): boolean {
  return action === 'SEND_SLACK_MESSAGE' && params.slackWebhook === undefined;
}

/** Switching it on or off begins another state, which the history tells. */
function changeOf(
  { random }: TriggerDeps,
  { actor, nowMs }: Call,
  { stored, next }: { readonly stored: Trigger; readonly next: Trigger },
): Parameters<TriggerStore['replace']>[0] {
  const fields = changedFields<Trigger>(AUDITED, stored, next);
  const audited = auditRecord(actor, { action: 'trigger.update', targetId: stored.id, fields }, { nowMs, random });
  if (next.active === stored.active) return { trigger: next, state: null, event: null, audited };
  const state = beginningState(next, nowMs);
  const of = {
    projectId: stored.projectId,
    triggerId: stored.id,
    id: newId('alert', random),
    kind: 'changed',
  } as const;
  return { trigger: next, state, event: stateEvent(of, state, { nowMs, notifies: false }), audited };
}

/** The rights to do what the trigger does. */
function requirePermissions({ requirePermission }: Call, { kind, action }: TriggerContent): void {
  requirePermission(kind === 'TRACE' ? 'traces:view' : 'analytics:view');
  if (action === 'ADD_TO_DATASET') requirePermission('datasets:update');
  if (action === 'ADD_TO_ANNOTATION_QUEUE') requirePermission('annotations:create');
}

type Acting = { readonly content: TriggerContent; readonly params: SentParams };

/**
 * Throws for an action that cannot be carried out, and for one that would do what its maker may not: a trigger acts with
 * the rights of the server.
 */
async function requireAction(deps: TriggerDeps, call: Call, { content, params }: Acting): Promise<void> {
  const { project, nowMs } = call;
  const why = deps.whyUnavailable(content.action);
  if (why !== null) throw new Fault('trigger_action_unavailable', why);
  requirePermissions(call, content);
  if (content.action === 'ADD_TO_DATASET') {
    const { datasetId } = params;
    const found =
      typeof datasetId === 'string' && isPossibleId(datasetId) && (await deps.datasets.find(project.id, datasetId));
    if (!found) throw new Fault('dataset_not_found', 'Dataset not found');
  }
  if (content.action === 'ADD_TO_ANNOTATION_QUEUE') {
    const { queueId } = params;
    const found =
      typeof queueId === 'string' &&
      isPossibleId(queueId) &&
      (await deps.queues.find(project.number, queueId, { nowMs, expiredBeforeMs: null }));
    if (!found) throw new Fault('annotation_queue_not_found', 'Annotation queue not found');
  }
  if (content.action === 'SEND_EMAIL') await requireMembers(deps, project, storedParams('SEND_EMAIL', params));
  if (content.action !== 'SEND_SLACK_MESSAGE' || typeof params.slackWebhook !== 'string') return;
  const refusal = await checkNewUrl(deps.urlPolicy, deps.resolve, params.slackWebhook);
  if (refusal === null) return;
  throw validationFault('json', [
    customReason('actionParams.slackWebhook', `actionParams.slackWebhook: ${refusal.message}`),
  ]);
}

async function requireMembers(deps: TriggerDeps, { organizationId }: Project, { members = [] }: ActionParams) {
  const emails = activeEmails(await deps.organizations.members(organizationId));
  if (members.every((member) => emails.has(member.toLowerCase()))) return;
  const message = 'actionParams.members must be e-mail addresses of active members of the organization';
  throw validationFault('json', [customReason('actionParams.members', message)]);
}

type Sealing = { readonly id: string; readonly action: TriggerAction; readonly params: SentParams | null };

function secretOf({ secrets }: TriggerDeps, { id, action, params }: Sealing): Buffer | null {
  const url = params?.slackWebhook;
  return action === 'SEND_SLACK_MESSAGE' && typeof url === 'string' ? secrets.seal(id, url) : null;
}

type History = { readonly events: readonly TriggerEvent[]; readonly nextCursor: string | null };

async function listHistory(
  { store, cursors }: TriggerDeps,
  { project, id }: { readonly project: Project; readonly id: string },
  { limit, cursor }: Page,
): Promise<History> {
  const { id: triggerId } = await rules.find(store, project, id);
  const binding = ['trigger-history', project.id, triggerId];
  const size = limit ?? PAGE_DEFAULT;
  const after = cursor === '' ? null : openPosition(cursors.open(binding, cursor));
  const found = await store.history({ projectId: project.id, triggerId, after, limit: size + 1 });
  const events = found.slice(0, size);
  const last = events.at(-1);
  const isMore = found.length > size && last !== undefined;
  return { events, nextCursor: isMore ? cursors.seal(binding, [last.createdAtMs, last.id]) : null };
}

function openPosition(position: ReturnType<CursorCodec['open']>): TriggerPage['after'] {
  const [createdAtMs, id] = position ?? [];
  if (typeof createdAtMs === 'number' && typeof id === 'string') return { createdAtMs, id };
  throw new Fault('invalid_cursor', 'The cursor is not one of this list.');
}
