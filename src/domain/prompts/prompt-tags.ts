/** The tags of an organization, which name versions of its prompts. */

import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import { auditRecord } from '../management/audit.ts';
import { refuseProblems } from '../reasons.ts';
import type { PromptCall, PromptStore, PromptTag } from './prompt.ts';
import { tagProblems } from './prompt-names.ts';

type PromptTagDeps = { readonly store: PromptStore; readonly random: RandomBytes };

/** Null: not sent. */
export type TagDraft = { readonly name: string; readonly protected: boolean | null };

const TAGS_MAX = 1000;
/** What an organization begins with; LangWatch's clients expect both. */
const SEEDS = [
  { name: 'production', protected: true },
  { name: 'staging', protected: false },
] as const;

type Reader = Pick<PromptCall, 'organization' | 'nowMs'>;

export type PromptTags = ReturnType<typeof createPromptTags>;

export function createPromptTags({ store, random }: PromptTagDeps) {
  /** The first call for an organization stores what it begins with. */
  function list({ organization, nowMs }: Reader): Promise<readonly PromptTag[]> {
    const { id: organizationId, promptVersion } = organization;
    const seeds = promptVersion > 0 ? [] : SEEDS;
    const tags = seeds.map((seed, index) => ({
      ...{ ...seed, organizationId, id: newId('prompttag', random) },
      createdAtMs: nowMs + index,
    }));
    return store.tags(organizationId, tags);
  }

  async function find(call: Reader, name: string): Promise<PromptTag> {
    const found = (await list(call)).find((tag) => tag.name === name);
    if (found === undefined) throw tagNotFound();
    return found;
  }

  /** Tags are of the organization, but a caller has power in its project only. */
  async function requireOwnUse({ project }: PromptCall, tag: PromptTag): Promise<void> {
    if (!(await store.isTagUsedElsewhere(tag, project.id))) return;
    throw new Fault('prompt_tag_in_use', 'Prompts of other projects use this tag, so it cannot be changed.');
  }

  return {
    /** The oldest first. */
    list,
    /** Throws prompt_tag_not_found, and what the caller lacks for a protected tag. */
    async requireAssignable(call: PromptCall, names: readonly string[]): Promise<void> {
      if (names.length === 0 && call.organization.promptVersion > 0) return;
      const tags = new Map((await list(call)).map((tag) => [tag.name, tag]));
      const assigned = names.map((name) => tags.get(name));
      if (assigned.includes(undefined)) throw tagNotFound();
      if (assigned.some((tag) => tag?.protected)) call.requirePermission('prompts:manage');
    },
    /** Throws validation_error, prompt_tag_taken and prompt_tag_limit_reached. */
    async create(call: PromptCall, draft: TagDraft): Promise<PromptTag> {
      refuseProblems(tagProblems(draft.name));
      await list(call);
      const { actor, nowMs, organization } = call;
      const id = newId('prompttag', random);
      const isProtected = draft.protected ?? false;
      const tag = { organizationId: organization.id, id, name: draft.name, protected: isProtected, createdAtMs: nowMs };
      const action = { action: 'promptTag.create', targetId: id, status: 201 };
      const outcome = await store.insertTag(tag, TAGS_MAX, auditRecord(actor, action, { nowMs, random }));
      if (outcome === 'name_taken') throw nameTaken();
      if (outcome === 'stored') return tag;
      throw new Fault('prompt_tag_limit_reached', `The organization already has ${TAGS_MAX} tags; delete one first.`);
    },
    /** Throws validation_error, prompt_tag_not_found, prompt_tag_in_use and prompt_tag_taken. */
    async update(call: PromptCall, name: string, draft: TagDraft): Promise<PromptTag> {
      refuseProblems(tagProblems(draft.name));
      const { actor, nowMs } = call;
      const stored = await find(call, name);
      await requireOwnUse(call, stored);
      const tag = { ...stored, name: draft.name, protected: draft.protected ?? stored.protected };
      const fields = [
        ...(tag.name === stored.name ? [] : ['name']),
        ...(tag.protected === stored.protected ? [] : ['protected']),
      ];
      const action = { action: 'promptTag.update', targetId: tag.id, fields };
      const outcome = await store.replaceTag(tag, auditRecord(actor, action, { nowMs, random }));
      if (outcome === 'name_taken') throw nameTaken();
      if (outcome === 'gone') throw tagNotFound();
      return tag;
    },
    /** Throws prompt_tag_not_found and prompt_tag_in_use. */
    async remove(call: PromptCall, name: string): Promise<void> {
      const { actor, nowMs } = call;
      const tag = await find(call, name);
      await requireOwnUse(call, tag);
      const action = { action: 'promptTag.delete', targetId: tag.id, status: 204 };
      if (!(await store.removeTag(tag, auditRecord(actor, action, { nowMs, random })))) throw tagNotFound();
    },
  };
}

export function tagNotFound(): Fault {
  return new Fault('prompt_tag_not_found', 'There is no such tag, or it names no version of this prompt.');
}

function nameTaken(): Fault {
  return new Fault('prompt_tag_taken', 'The organization already has a tag with this name.');
}
