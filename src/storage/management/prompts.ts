/** Prompts, their versions and tags. Every change begins with the row of the organization, so no two run at once. */

import type {
  NewVersion,
  Prompt,
  PromptPage,
  PromptStore,
  PromptTag,
  TagUse,
  VersionName,
  Viewer,
} from '../../domain/prompts/prompt.ts';
import { AuditEntry } from '../entities/audit.ts';
import { Organization } from '../entities/organization.ts';
import { PromptRow, PromptTagRow, PromptTagUseRow, PromptVersionRow } from '../entities/prompts.ts';
import type { EntityManager } from '../mapper.ts';
import { increased, plain, type Units } from './units.ts';

/** Both stores compile a list of this many values. */
const IDS_MAX = 500;

export function createPromptStore({ read, transact }: Units): PromptStore {
  /** Undone where the body returns anything but `stored`. */
  const change = <Outcome extends string>(
    organizationId: string,
    body: (em: EntityManager) => Promise<Outcome>,
  ): Promise<Outcome> => {
    const undone = new Map<unknown, Outcome>();
    const run = async ({ em }: { readonly em: EntityManager }) => {
      await countChange(em, organizationId);
      const outcome = await body(em);
      if (outcome === 'stored') return outcome;
      const signal = new Error('a change of prompts is undone');
      undone.set(signal, outcome);
      throw signal;
    };
    return transact(run).catch((error: unknown) => {
      const outcome = undone.get(error);
      if (outcome === undefined) throw error;
      return outcome;
    });
  };
  return {
    find: (viewer, idOrHandle, name) =>
      read(async (em) => {
        const prompt = await findPrompt(em, viewer, idOrHandle);
        if (prompt === null) return null;
        const version = await findVersion(em, prompt, name);
        return { prompt, version, tags: version === null ? [] : await usesOf(em, prompt, version.id) };
      }),
    list: (viewer, page) => read((em) => listPrompts(em, viewer, page)),
    versions: (prompt, { before, limit }) =>
      read(async (em) => {
        const { organizationId, id: promptId } = prompt;
        const older = before === null ? {} : { version: { $lt: before } };
        const newestFirst = { orderBy: { version: 'desc' }, limit } as const;
        const rows = await em.find(PromptVersionRow, { organizationId, promptId, ...older }, newestFirst);
        const uses = await usesOf(em, prompt, null);
        return rows.map((row) => ({
          version: plain(row, 'organizationId', 'promptId'),
          tags: uses.filter(({ versionId }) => versionId === row.id),
        }));
      }),
    insert: (prompt, first, promptsMax) =>
      change(prompt.organizationId, async (em) => {
        const { organizationId, projectId } = prompt;
        if ((await em.count(PromptRow, { organizationId, projectId })) >= promptsMax) return 'limit_reached';
        if (await isHandleTaken(em, prompt)) return 'handle_taken';
        await em.insert(PromptRow, { ...prompt, ownerId: ownerOf(prompt) });
        return await storeVersion(em, prompt, first);
      }),
    append: (prompt, next) =>
      change(prompt.organizationId, async (em) => {
        const { organizationId, id, createdAtMs: _, ...changed } = prompt;
        const known = { organizationId, id, version: prompt.version - 1 };
        if (await isHandleTaken(em, prompt)) return 'handle_taken';
        const row = { ...changed, ownerId: ownerOf(prompt) };
        if ((await em.nativeUpdate(PromptRow, known, row)) === 0) return 'stale';
        return await storeVersion(em, prompt, next);
      }),
    remove: async ({ organizationId, id }, audited) => {
      const outcome = await change(organizationId, async (em) => {
        if ((await em.nativeDelete(PromptRow, { organizationId, id })) === 0) return 'gone';
        await em.nativeDelete(PromptTagUseRow, { organizationId, promptId: id });
        await em.nativeDelete(PromptVersionRow, { organizationId, promptId: id });
        await em.insert(AuditEntry, audited);
        return 'stored';
      });
      return outcome === 'stored';
    },
    assign: ({ organizationId, id: promptId }, { name, versionId, atMs }, audited) =>
      change(organizationId, async (em) => {
        const version = await em.findOne(PromptVersionRow, { organizationId, id: versionId, promptId });
        const tag = await em.findOne(PromptTagRow, { organizationId, name });
        if (version === null || tag === null) return 'gone';
        await em.upsert(PromptTagUseRow, { organizationId, promptId, tagId: tag.id, versionId, updatedAtMs: atMs });
        await em.insert(AuditEntry, audited);
        return 'stored';
      }),
    async tags(organizationId, seeds) {
      if (seeds.length > 0) await change(organizationId, (em) => storeSeeds(em, organizationId, seeds));
      return await read(async (em) => {
        const orderBy = { createdAtMs: 'asc', id: 'asc' } as const;
        return (await em.find(PromptTagRow, { organizationId }, { orderBy })).map((row) => plain(row));
      });
    },
    insertTag: (tag, tagsMax, audited) =>
      change(tag.organizationId, async (em) => {
        const { organizationId } = tag;
        if (await isNameTaken(em, tag)) return 'name_taken';
        if ((await em.count(PromptTagRow, { organizationId })) >= tagsMax) return 'limit_reached';
        await em.insert(PromptTagRow, { ...tag });
        await em.insert(AuditEntry, audited);
        return 'stored';
      }),
    replaceTag: (tag, audited) =>
      change(tag.organizationId, async (em) => {
        if (await isNameTaken(em, tag)) return 'name_taken';
        const { organizationId, id, ...changed } = tag;
        if ((await em.nativeUpdate(PromptTagRow, { organizationId, id }, changed)) === 0) return 'gone';
        await em.insert(AuditEntry, audited);
        return 'stored';
      }),
    isTagUsedElsewhere: ({ organizationId, id: tagId }, projectId) =>
      read(async (em) => {
        const uses = await em.find(PromptTagUseRow, { organizationId, tagId });
        const ids = [...new Set(uses.map(({ promptId }) => promptId))];
        return (await em.count(PromptRow, { organizationId, id: { $in: ids }, projectId: { $ne: projectId } })) > 0;
      }),
    removeTag: async ({ organizationId, id }, audited) => {
      const outcome = await change(organizationId, async (em) => {
        if ((await em.nativeDelete(PromptTagRow, { organizationId, id })) === 0) return 'gone';
        await em.nativeDelete(PromptTagUseRow, { organizationId, tagId: id });
        await em.insert(AuditEntry, audited);
        return 'stored';
      });
      return outcome === 'stored';
    },
  };
}

/** Caches of prompts are valid for one number. */
async function countChange(em: EntityManager, id: string): Promise<void> {
  await em.nativeUpdate(Organization, { id }, { promptVersion: increased('prompt_version') });
}

function ownerOf({ scope, organizationId, projectId }: Prompt): string {
  return scope === 'ORGANIZATION' ? organizationId : projectId;
}

type Row = Prompt & { readonly ownerId: string };

async function findPrompt(em: EntityManager, viewer: Viewer, idOrHandle: string): Promise<Prompt | null> {
  const { organizationId, projectId } = viewer;
  const visible = [{ projectId }, { scope: 'ORGANIZATION' as const }];
  const byId = await em.findOne(PromptRow, { organizationId, id: idOrHandle, $or: visible });
  const owners = [projectId, organizationId];
  const found = byId
    ? [byId]
    : await em.find(PromptRow, { organizationId, ownerId: { $in: owners }, handle: idOrHandle });
  const first = found.find(({ ownerId }) => ownerId === projectId) ?? found[0];
  return first === undefined ? null : plain(first as Row, 'ownerId');
}

async function findVersion(em: EntityManager, prompt: Prompt, name: VersionName) {
  const { organizationId, id: promptId } = prompt;
  const id = name.kind === 'tag' ? await findTagged(em, prompt, name.name) : idOf(prompt, name);
  if (id === null) return null;
  const named = name.kind === 'number' ? { version: name.number } : { id };
  const found = await em.findOne(PromptVersionRow, { organizationId, promptId, ...named });
  return found && plain(found, 'organizationId', 'promptId');
}

function idOf({ versionId }: Prompt, name: Exclude<VersionName, { kind: 'tag' }>): string {
  return name.kind === 'id' ? name.id : versionId;
}

async function findTagged(em: EntityManager, { organizationId, id }: Prompt, name: string): Promise<string | null> {
  const tag = await em.findOne(PromptTagRow, { organizationId, name });
  if (tag === null) return null;
  return (await em.findOne(PromptTagUseRow, { organizationId, promptId: id, tagId: tag.id }))?.versionId ?? null;
}

/** The tags of one version, or of all for null, by name. */
async function usesOf(em: EntityManager, { organizationId, id }: Prompt, versionId: string | null): Promise<TagUse[]> {
  const named = { organizationId, promptId: id, ...(versionId !== null && { versionId }) };
  const uses = await em.find(PromptTagUseRow, named);
  return await nameUses(em, organizationId, uses);
}

type StoredUse = { readonly tagId: string; readonly versionId: string };

async function nameUses(em: EntityManager, organizationId: string, uses: readonly StoredUse[]): Promise<TagUse[]> {
  if (uses.length === 0) return [];
  const names = new Map((await em.find(PromptTagRow, { organizationId })).map(({ id, name }) => [id, name]));
  return uses
    .map(({ tagId, versionId }) => ({ name: names.get(tagId) ?? '', versionId }))
    .filter(({ name }) => name !== '')
    .sort((one, another) => (one.name < another.name ? -1 : 1));
}

async function listPrompts(em: EntityManager, { organizationId, projectId }: Viewer, { limit, after }: PromptPage) {
  const rows = await em.find(
    PromptRow,
    {
      organizationId,
      $and: [
        { $or: [{ projectId }, { scope: 'ORGANIZATION' }] },
        after === null
          ? {}
          : {
              $or: [
                { updatedAtMs: { $lt: after.updatedAtMs } },
                { updatedAtMs: after.updatedAtMs, id: { $lt: after.id } },
              ],
            },
      ],
    },
    { orderBy: { updatedAtMs: 'desc', id: 'desc' }, limit },
  );
  const versions = [];
  const uses: TagUse[] = [];
  for (let from = 0; from < rows.length; from += IDS_MAX) {
    const ids = rows.slice(from, from + IDS_MAX).map(({ versionId }) => versionId);
    versions.push(...(await em.find(PromptVersionRow, { organizationId, id: { $in: ids } })));
    const used = await em.find(PromptTagUseRow, { organizationId, versionId: { $in: ids } });
    uses.push(...(await nameUses(em, organizationId, used)));
  }
  const byId = new Map(versions.map((version) => [version.id, version]));
  return rows.flatMap((row) => {
    const version = byId.get(row.versionId);
    if (version === undefined) return [];
    const tags = uses.filter(({ versionId }) => versionId === row.versionId);
    return [{ prompt: plain(row as Row, 'ownerId'), version: plain(version, 'organizationId', 'promptId'), tags }];
  });
}

async function isHandleTaken(em: EntityManager, prompt: Prompt): Promise<boolean> {
  const { organizationId, id, handle } = prompt;
  const taken = await em.findOne(PromptRow, { organizationId, ownerId: ownerOf(prompt), handle });
  return taken !== null && taken.id !== id;
}

async function storeVersion(
  em: EntityManager,
  { organizationId, id: promptId, updatedAtMs }: Prompt,
  { version, tags, audited }: NewVersion,
): Promise<'stored' | 'tag_unknown'> {
  await em.insert(PromptVersionRow, { ...version, organizationId, promptId });
  for (const name of new Set(tags)) {
    const tag = await em.findOne(PromptTagRow, { organizationId, name });
    if (tag === null) return 'tag_unknown';
    await em.upsert(PromptTagUseRow, { organizationId, promptId, tagId: tag.id, versionId: version.id, updatedAtMs });
  }
  await em.insert(AuditEntry, audited);
  return 'stored';
}

async function isNameTaken(em: EntityManager, { organizationId, id, name }: PromptTag): Promise<boolean> {
  const taken = await em.findOne(PromptTagRow, { organizationId, name });
  return taken !== null && taken.id !== id;
}

/** Two requests may both find that nothing was stored. */
async function storeSeeds(em: EntityManager, id: string, seeds: readonly PromptTag[]): Promise<'stored' | 'seeded'> {
  const { promptVersion } = await em.findOneOrFail(Organization, { id });
  // The change itself was counted already.
  if (promptVersion !== 1) return 'seeded';
  for (const seed of seeds) await em.insert(PromptTagRow, { ...seed });
  return 'stored';
}
