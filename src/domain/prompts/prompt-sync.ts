/** Syncs prompts with local files. */

import { validationFault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { retryStale } from '../resources.ts';
import { decideSync, normalizeConfig, type SyncDecision } from './comparison.ts';
import type { PromptCall, VersionedPrompt } from './prompt.ts';
import { newConfig, type PromptConfig } from './prompt-config.ts';
import { handleProblems } from './prompt-names.ts';
import {
  append,
  BUSY,
  type Drafted,
  findOwned,
  insert,
  NEWEST,
  NO_PARAMETERS,
  type PromptDeps,
  viewerOf,
} from './prompt-versions.ts';

export type LocalFile = {
  readonly idOrHandle: string;
  readonly config: PromptConfig;
  /** Null: not to be compared. */
  readonly parametersJson: string | null;
  /** The number of the version that the file was made from; null: not known. */
  readonly localVersion: number | null;
  readonly commitMessage: string | null;
};

export type SyncOutcome =
  | { readonly action: 'created' | 'updated' | 'up_to_date'; readonly found: VersionedPrompt }
  | { readonly action: 'conflict'; readonly found: VersionedPrompt; readonly differences: readonly string[] };

/** Throws as SyncPrompt of the contract says. */
export function syncPrompt(deps: PromptDeps, call: PromptCall, file: LocalFile): Promise<SyncOutcome> {
  const local = { ...file, config: normalizeConfig(file.config) };
  return retryStale(BUSY, () => syncOnce(deps, call, local));
}

async function syncOnce(deps: PromptDeps, call: PromptCall, file: LocalFile): Promise<SyncOutcome | 'stale'> {
  const { idOrHandle, localVersion } = file;
  const known = isPossibleId(idOrHandle) ? await deps.store.find(viewerOf(call.project), idOrHandle, NEWEST) : null;
  if (known === null) return await createFromFile(deps, call, file);
  const found = await findOwned(deps, call, { idOrHandle: known.prompt.id, version: NEWEST });
  const { prompt, version } = found;
  const isOlder = localVersion !== null && localVersion >= 1 && localVersion < version.version;
  const base = isOlder
    ? await deps.store.find(viewerOf(call.project), prompt.id, { kind: 'number', number: localVersion })
    : null;
  const decision = decideSync({ local: file, localVersion, newest: version, base: base?.version ?? null });
  // Clients go on from the version that they get: one with another text than their file would undo it later.
  if (decision.action === 'up_to_date')
    return { ...decision, found: base?.version ? { ...base, version: base.version } : found };
  if (decision.action !== 'updated') return { ...decision, found };
  const drafted: Drafted = {
    config: file.config,
    parametersJson: file.parametersJson ?? version.parametersJson,
    commitMessage: file.commitMessage ?? describeUpdate(decision),
    authorId: null,
    tags: [],
    action: 'prompt.sync',
  };
  const updated = await append(deps, call, { named: prompt, found, drafted });
  return updated === 'stale' ? updated : { action: 'updated', found: updated };
}

function describeUpdate({ differences }: Extract<SyncDecision, { action: 'updated' }>): string {
  return `Updated from local file (${differences.join('; ')})`;
}

async function createFromFile(deps: PromptDeps, call: PromptCall, file: LocalFile): Promise<SyncOutcome | 'stale'> {
  const handle = file.idOrHandle;
  const problems = handleProblems(handle).map((reason) => ({ ...reason, field: 'id' }));
  if (problems.length > 0) throw validationFault('param', problems);
  call.requirePermission('prompts:create');
  await deps.tags.requireAssignable(call, []);
  const drafted: Drafted = {
    config: newConfig(file.config),
    parametersJson: file.parametersJson ?? NO_PARAMETERS,
    commitMessage: file.commitMessage ?? 'Synced from local file',
    authorId: null,
    tags: [],
    action: 'prompt.sync',
  };
  const created = await insert(deps, call, { handle, scope: 'PROJECT', drafted });
  // Another request created it meanwhile.
  return created === 'handle_taken' ? 'stale' : { action: 'created', found: created };
}
