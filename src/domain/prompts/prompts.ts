/** The prompts of a project: reading them, and making versions of them. */

import type { Project } from '../caller.ts';
import { Fault } from '../fault.ts';
import { type CursorPage, type CursorPageRequest, limitOf, openCursor, toCursorPage } from '../management/listing.ts';
import { retryStale } from '../resources.ts';
import type { PromptCall, PromptPage, PromptScope, PromptStore, VersionedPrompt, VersionName } from './prompt.ts';
import { changedConfig, newConfig } from './prompt-config.ts';
import type { Reference } from './prompt-names.ts';
import { type LocalFile, syncPrompt } from './prompt-sync.ts';
import {
  append,
  audit,
  BUSY,
  find,
  findOwned,
  handleTaken,
  insert,
  NEWEST,
  NO_PARAMETERS,
  notFound,
  type PromptDeps,
  type VersionDraft,
  viewerOf,
} from './prompt-versions.ts';

export type NewPrompt = { readonly handle: string; readonly scope: PromptScope; readonly draft: VersionDraft };

export type PromptChange = {
  readonly idOrHandle: string;
  readonly handle: string | null;
  readonly scope: PromptScope | null;
  /** The number of the version that the change was made from; null: any. */
  readonly expectedVersion: number | null;
  readonly draft: VersionDraft;
};

export type Prompts = ReturnType<typeof createPrompts>;

export function createPrompts(deps: PromptDeps) {
  const { store, cursors } = deps;
  return {
    /** Throws prompt_not_found, prompt_version_not_found and prompt_tag_not_found. */
    get: (project: Project, { idOrHandle, version }: Reference) => find(deps, project, { idOrHandle, version }),
    /**
     * In their newest versions: all of them, or a page where it asks for a limit. `count` is given what is read, part by
     * part. Throws invalid_cursor, and what it throws.
     */
    async list(project: Project, request: CursorPageRequest, count: CountRead): Promise<CursorPage<VersionedPrompt>> {
      const positionOf = ({ prompt: { updatedAtMs, id } }: VersionedPrompt) => ({ createdAtMs: updatedAtMs, id });
      const listing = { cursors, binding: [project.organizationId, 'prompts', project.id], positionOf };
      const position = openCursor(listing, request.cursor);
      const after = position && { updatedAtMs: position.createdAtMs, id: position.id };
      if (request.limit === null && after === null) {
        return { items: await listSome(store, project, { limit: LISTED_MAX, after, count }), nextCursor: null };
      }
      const limit = limitOf(request);
      return toCursorPage(await listSome(store, project, { limit: limit + 1, after, count }), limit, listing);
    },
    /** The newest first. Throws prompt_not_found, and what `count` throws. */
    async versions(project: Project, idOrHandle: string, count: CountRead): Promise<readonly VersionedPrompt[]> {
      const { prompt } = await find(deps, project, { idOrHandle, version: NEWEST });
      const all: VersionedPrompt[] = [];
      for (;;) {
        const before = all.at(-1)?.version.version ?? null;
        const page = await store.versions(prompt, { before, limit: READ_AT_ONCE });
        const read = page.map((each) => ({ prompt, ...each }));
        count(read);
        all.push(...read);
        if (page.length < READ_AT_ONCE) return all;
      }
    },
    /** Throws as CreatePrompt of the contract says. */
    async create(call: PromptCall, { handle, scope, draft }: NewPrompt): Promise<VersionedPrompt> {
      await deps.tags.requireAssignable(call, draft.tags);
      const commitMessage = draft.commitMessage ?? 'Initial version';
      const content = { config: newConfig(draft.config), parametersJson: draft.parametersJson ?? NO_PARAMETERS };
      const drafted = { ...draft, ...content, commitMessage, action: 'prompt.create' };
      const created = await insert(deps, call, { handle, scope, drafted });
      if (created === 'handle_taken') throw handleTaken(scope);
      return created;
    },
    /** Throws as UpdatePrompt of the contract says. */
    async update(
      call: PromptCall,
      { idOrHandle, handle, scope, expectedVersion, draft }: PromptChange,
    ): Promise<VersionedPrompt> {
      await deps.tags.requireAssignable(call, draft.tags);
      return await retryStale(BUSY, async () => {
        const found = await findOwned(deps, call, { idOrHandle, version: NEWEST });
        const { prompt, version } = found;
        if (expectedVersion !== null && expectedVersion !== prompt.version) throw changedMeanwhile(prompt.version);
        const content = {
          config: changedConfig(version.config, draft.config, draft.cleared),
          parametersJson: draft.parametersJson ?? version.parametersJson,
        };
        const named = { ...prompt, handle: handle ?? prompt.handle, scope: scope ?? prompt.scope };
        return await append(deps, call, { named, found, drafted: { ...draft, ...content, action: 'prompt.update' } });
      });
    },
    /** Throws as RestorePromptVersion of the contract says. */
    restore: (call: PromptCall, idOrHandle: string, versionId: string): Promise<VersionedPrompt> =>
      retryStale(BUSY, async () => {
        const found = await findOwned(deps, call, { idOrHandle, version: { kind: 'id', id: versionId } });
        const { config, parametersJson, version } = found.version;
        const commitMessage = `Restore from version ${version}`;
        const drafted = { config, parametersJson, commitMessage, authorId: null, tags: [], action: 'prompt.restore' };
        return await append(deps, call, { named: found.prompt, found, drafted });
      }),
    /** Throws prompt_not_found and prompt_not_owned. */
    async remove(call: PromptCall, idOrHandle: string): Promise<void> {
      const { prompt } = await findOwned(deps, call, { idOrHandle, version: NEWEST });
      const audited = audit(deps, call, { action: 'prompt.delete', targetId: prompt.id });
      if (!(await store.remove(prompt, audited))) throw notFound();
    },
    /** Throws as SyncPrompt of the contract says. */
    sync: (call: PromptCall, file: LocalFile) => syncPrompt(deps, call, file),
    /** Throws as AssignPromptTag of the contract says. Returns the id of the prompt. */
    async assign(
      call: PromptCall,
      { idOrHandle, ...use }: { readonly idOrHandle: string; readonly name: string; readonly versionId: string },
    ): Promise<string> {
      await deps.tags.requireAssignable(call, [use.name]);
      const version: VersionName = { kind: 'id', id: use.versionId };
      const { prompt } = await findOwned(deps, call, { idOrHandle, version });
      const audited = audit(deps, call, { action: 'prompt.tag', targetId: prompt.id, fields: ['tags'] });
      if ((await store.assign(prompt, { ...use, atMs: call.nowMs }, audited)) === 'gone') throw notFound();
      return prompt.id;
    },
  };
}

function changedMeanwhile(version: number): Fault {
  return new Fault('revision_mismatch', `The prompt has changed meanwhile: its newest version is ${version}.`, {
    meta: { version },
  });
}

/** So few that what is read before it is counted takes little memory, however large the versions are. */
const READ_AT_ONCE = 50;
const LISTED_MAX = 2000;

/** Is given prompts that were read, and throws where the answer has become too large. */
type CountRead = (read: readonly VersionedPrompt[]) => void;

type Some = PromptPage & { readonly count: CountRead };

/** A list is read in parts: its organization may share any number of prompts with the project. */
async function listSome(
  store: PromptStore,
  project: Project,
  { limit, after, count }: Some,
): Promise<readonly VersionedPrompt[]> {
  const all: VersionedPrompt[] = [];
  for (;;) {
    const last = all.at(-1)?.prompt ?? after;
    const wanted = Math.min(READ_AT_ONCE, limit - all.length);
    const page = await store.list(viewerOf(project), { limit: wanted, after: last });
    count(page);
    all.push(...page);
    if (page.length < wanted || all.length >= limit) return all;
  }
}
