/** Finds versions of prompts, and makes new ones. */

import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { auditRecord } from '../management/audit.ts';
import { nextUpdateMs } from '../resources.ts';
import type {
  Prompt,
  PromptCall,
  PromptScope,
  PromptStore,
  PromptVersion,
  VersionedPrompt,
  VersionName,
} from './prompt.ts';
import { type ClearedSetting, type ConfigDraft, type PromptConfig, requireSize } from './prompt-config.ts';
import { LATEST, type Reference } from './prompt-names.ts';
import { type PromptTags, tagNotFound } from './prompt-tags.ts';

export type PromptDeps = {
  readonly store: PromptStore;
  readonly tags: Pick<PromptTags, 'requireAssignable'>;
  readonly random: RandomBytes;
  readonly cursors: CursorCodec;
};

/** What is sent of a new version; null: not sent. */
export type VersionDraft = {
  readonly config: ConfigDraft;
  readonly cleared: readonly ClearedSetting[];
  readonly parametersJson: string | null;
  readonly commitMessage: string | null;
  readonly authorId: string | null;
  readonly tags: readonly string[];
};

const PROMPTS_MAX = 1000;
const VERSIONS_MAX = 1000;
/** For a prompt that others keep changing. */
export const BUSY = 'Others keep changing this prompt; try again.';
export const NEWEST: VersionName = { kind: 'latest' };
/** The parameters of a new prompt without any. */
export const NO_PARAMETERS = '{}';

/** Throws prompt_not_found, prompt_version_not_found and prompt_tag_not_found. */
export async function find(
  { store }: Pick<PromptDeps, 'store'>,
  project: Project,
  { idOrHandle, version: name }: Reference,
): Promise<VersionedPrompt> {
  if (!isPossibleId(idOrHandle)) throw notFound();
  if (name.kind === 'id' && !isPossibleId(name.id)) throw versionNotFound();
  if (name.kind === 'tag' && !isPossibleId(name.name)) throw tagNotFound();
  const found = await store.find(viewerOf(project), idOrHandle, name);
  if (found === null) throw notFound();
  const { version } = found;
  if (version === null) throw name.kind === 'tag' ? tagNotFound() : versionNotFound();
  return { ...found, version };
}

/** Throws prompt_not_owned, too, for a prompt that another project shares. */
export async function findOwned(
  deps: PromptDeps,
  { project }: PromptCall,
  reference: Reference,
): Promise<VersionedPrompt> {
  const found = await find(deps, project, reference);
  if (found.prompt.projectId === project.id) return found;
  throw new Fault('prompt_not_owned', 'Only the project that has this prompt changes it.');
}

/** A whole new version, without its number. */
export type Drafted = Omit<VersionDraft, 'config' | 'cleared' | 'parametersJson'> & {
  readonly config: PromptConfig;
  readonly parametersJson: string;
  /** For the audit log. */
  readonly action: string;
};

type Inserting = { readonly handle: string; readonly scope: PromptScope; readonly drafted: Drafted };

/** Throws prompt_limit_reached, prompt_tag_not_found and validation_error. */
export async function insert(
  deps: PromptDeps,
  call: PromptCall,
  { handle, scope, drafted }: Inserting,
): Promise<VersionedPrompt | 'handle_taken'> {
  const { id: projectId, organizationId } = call.project;
  const times = { createdAtMs: call.nowMs, updatedAtMs: call.nowMs };
  const version = makeVersion(deps, call, { number: 1, drafted });
  const id = newId('prompt', deps.random);
  const prompt: Prompt = { organizationId, id, projectId, scope, handle, version: 1, versionId: version.id, ...times };
  const audited = audit(deps, call, { action: drafted.action, targetId: id });
  const outcome = await deps.store.insert(prompt, { version, tags: drafted.tags, audited }, PROMPTS_MAX);
  if (outcome === 'handle_taken') return outcome;
  if (outcome === 'tag_unknown') throw tagNotFound();
  if (outcome === 'limit_reached') {
    throw new Fault('prompt_limit_reached', `The project already has ${PROMPTS_MAX} prompts; delete one first.`);
  }
  return withTags({ prompt, version }, drafted.tags);
}

type Appending = { readonly named: Prompt; readonly found: VersionedPrompt; readonly drafted: Drafted };

/** Throws prompt_version_limit_reached, prompt_handle_taken, prompt_tag_not_found and validation_error. */
export async function append(
  deps: PromptDeps,
  call: PromptCall,
  { named, found, drafted }: Appending,
): Promise<VersionedPrompt | 'stale'> {
  const number = found.prompt.version + 1;
  if (number > VERSIONS_MAX) {
    throw new Fault(
      'prompt_version_limit_reached',
      `A prompt has at most ${VERSIONS_MAX} versions; make a new prompt.`,
    );
  }
  const version = makeVersion(deps, call, { number, drafted });
  const updatedAtMs = nextUpdateMs(found.prompt, call.nowMs);
  const prompt: Prompt = { ...named, version: number, versionId: version.id, updatedAtMs };
  const audited = audit(deps, call, { action: drafted.action, targetId: prompt.id });
  const outcome = await deps.store.append(prompt, { version, tags: drafted.tags, audited });
  if (outcome === 'stale') return outcome;
  if (outcome === 'handle_taken') throw handleTaken(prompt.scope);
  if (outcome === 'tag_unknown') throw tagNotFound();
  return withTags({ prompt, version }, drafted.tags);
}

/** Throws validation_error for a version that is too large. */
function makeVersion(
  { random }: PromptDeps,
  { actor, nowMs }: PromptCall,
  { number, drafted }: { readonly number: number; readonly drafted: Drafted },
): PromptVersion {
  const { config, parametersJson, commitMessage } = drafted;
  requireSize(config, parametersJson);
  const authorId = drafted.authorId ?? actor.actorUserId;
  const id = newId('promptversion', random);
  return { id, version: number, authorId, commitMessage, config, parametersJson, createdAtMs: nowMs };
}

function withTags(stored: Omit<VersionedPrompt, 'tags'>, names: readonly string[]): VersionedPrompt {
  const unique = [...new Set(names)].filter((name) => name !== LATEST).sort();
  return { ...stored, tags: unique.map((name) => ({ name, versionId: stored.version.id })) };
}

/** An entry of the audit log about the caller. */
export function audit({ random }: PromptDeps, { actor, nowMs }: PromptCall, action: Parameters<typeof auditRecord>[1]) {
  return auditRecord(actor, action, { nowMs, random });
}

export function notFound(): Fault {
  return new Fault('prompt_not_found', 'The project has no such prompt.');
}

function versionNotFound(): Fault {
  return new Fault('prompt_version_not_found', 'The prompt has no such version.');
}

export function handleTaken(scope: PromptScope): Fault {
  const where = scope === 'ORGANIZATION' ? 'organization' : 'project';
  return new Fault('prompt_handle_taken', `The ${where} already has a prompt with this handle.`);
}

/** The project as the port sees it. */
export function viewerOf({ organizationId, id }: Project) {
  return { organizationId, projectId: id };
}
