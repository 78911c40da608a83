import { describe, expect, it } from 'vitest';
import type { NewVersion, Prompt, PromptTag, PromptVersion } from '../../../src/domain/prompts/prompt.ts';
import { NO_SETTINGS } from '../../../src/domain/prompts/prompt-config.ts';
import { AT_MS, found, foundAnother, sampleAudit } from './management-samples.ts';
import { randomHex } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const MANY = 1000;
const LATEST = { kind: 'latest' } as const;

function sampleVersion(changes: Partial<PromptVersion> = {}): PromptVersion {
  return {
    id: `promptversion_${randomHex(8)}`,
    version: 1,
    authorId: null,
    commitMessage: 'Größe',
    config: {
      ...NO_SETTINGS,
      prompt: 'You are "brief".\u0001\n',
      messages: [{ role: 'user', content: '{{input}} Ü' }],
      inputs: [{ identifier: 'input', type: 'list_str' }],
      outputs: [{ identifier: 'output', type: 'json_schema', jsonSchemaJson: '{"z":1.50,"a":{}}' }],
      model: 'openai/gpt-5',
      temperature: 0.25,
    },
    parametersJson: '{"z":1.50,"a":9007199254740993}',
    createdAtMs: AT_MS,
    ...changes,
  };
}

function samplePrompt(organizationId: string, version: PromptVersion, changes: Partial<Prompt> = {}): Prompt {
  return {
    ...{ organizationId, id: `prompt_${randomHex(8)}`, projectId: 'project_1', scope: 'PROJECT', handle: 'a/b' },
    ...{ version: version.version, versionId: version.id, createdAtMs: AT_MS, updatedAtMs: AT_MS },
    ...changes,
  };
}

const sampleTag = (organizationId: string, name: string): PromptTag => ({
  ...{ organizationId, id: `prompttag_${name}`, name, protected: name === 'production', createdAtMs: AT_MS },
});

const next = (organizationId: string, version: PromptVersion, tags: readonly string[] = []): NewVersion => ({
  version,
  tags,
  audited: sampleAudit(organizationId, { action: 'prompt.update', targetId: version.id }),
});

export function promptConformance(open: OpenManagement): void {
  describe('prompts', () => {
    it(
      'are found by id and handle, whole, by their project and by nobody else unless they are shared',
      withStore(open, async (store, subject) => {
        const { id: organizationId } = (await found(store)).organization;
        const others = await foundAnother(subject);
        const version = sampleVersion();
        const prompt = samplePrompt(organizationId, version);
        const { prompts } = store;
        expect(await prompts.insert(prompt, next(organizationId, version), MANY)).toBe('stored');
        const viewer = { organizationId, projectId: 'project_1' };
        for (const name of [prompt.id, prompt.handle]) {
          expect(await prompts.find(viewer, name, LATEST)).toEqual({ prompt, version, tags: [] });
          expect(await prompts.find({ ...viewer, projectId: 'project_2' }, name, LATEST)).toBeNull();
          expect(await prompts.find({ ...viewer, organizationId: others }, name, LATEST)).toBeNull();
        }
        const sharedVersion = sampleVersion();
        const shared = samplePrompt(organizationId, sharedVersion, { scope: 'ORGANIZATION', updatedAtMs: AT_MS + 1 });
        expect(await prompts.insert(shared, next(organizationId, sharedVersion), MANY)).toBe('stored');
        expect((await prompts.find(viewer, 'a/b', LATEST))?.prompt.id).toBe(prompt.id);
        expect((await prompts.find({ ...viewer, projectId: 'project_2' }, 'a/b', LATEST))?.prompt.id).toBe(shared.id);
        const page = { limit: 1, after: null };
        expect(await prompts.list(viewer, page)).toEqual([{ prompt: shared, version: sharedVersion, tags: [] }]);
        expect(await prompts.list(viewer, { limit: 9, after: shared })).toEqual([{ prompt, version, tags: [] }]);
        expect(await prompts.list({ ...viewer, organizationId: others }, page)).toEqual([]);
      }),
    );

    it(
      'keep handles unique in their scope, and projects to their limit, and store nothing else',
      withStore(open, async (store) => {
        const { id: organizationId } = (await found(store)).organization;
        const { prompts } = store;
        const insert = (changes: Partial<Prompt>, max = MANY, tags: readonly string[] = []) => {
          const version = sampleVersion();
          return prompts.insert(
            samplePrompt(organizationId, version, changes),
            next(organizationId, version, tags),
            max,
          );
        };
        expect(await insert({})).toBe('stored');
        expect(await insert({})).toBe('handle_taken');
        expect(await insert({ projectId: 'project_2' })).toBe('stored');
        expect(await insert({ handle: 'c' }, 1)).toBe('limit_reached');
        expect(await insert({ handle: 'c' }, MANY, ['none'])).toBe('tag_unknown');
        const viewer = { organizationId, projectId: 'project_1' };
        expect(await prompts.find(viewer, 'c', LATEST)).toBeNull();
        expect(await prompts.list(viewer, { limit: 9, after: null })).toHaveLength(1);
      }),
    );

    it(
      'take a version only after the one before, and are gone with all of them',
      withStore(open, async (store) => {
        const { id: organizationId } = (await found(store)).organization;
        const { prompts } = store;
        await prompts.tags(organizationId, [sampleTag(organizationId, 'production')]);
        const first = sampleVersion();
        const prompt = samplePrompt(organizationId, first);
        await prompts.insert(prompt, next(organizationId, first, ['production']), MANY);
        const second = sampleVersion({ version: 2, commitMessage: null, authorId: 'somebody' });
        const grown = { ...prompt, version: 2, versionId: second.id, handle: 'c', updatedAtMs: AT_MS + 5 };
        expect(await prompts.append(grown, next(organizationId, second))).toBe('stored');
        expect(await prompts.append(grown, next(organizationId, sampleVersion({ version: 2 })))).toBe('stale');
        const viewer = { organizationId, projectId: 'project_1' };
        const tags = [{ name: 'production', versionId: first.id }];
        expect(await prompts.versions(grown, { before: null, limit: 10 })).toEqual([
          { version: second, tags: [] },
          { version: first, tags },
        ]);
        expect(await prompts.versions(grown, { before: null, limit: 1 })).toEqual([{ version: second, tags: [] }]);
        expect(await prompts.versions(grown, { before: 2, limit: 1 })).toEqual([{ version: first, tags }]);
        const read = (name: Parameters<typeof prompts.find>[2]) => prompts.find(viewer, 'c', name);
        expect(await read(LATEST)).toEqual({ prompt: grown, version: second, tags: [] });
        for (const name of [
          { kind: 'number', number: 1 },
          { kind: 'id', id: first.id },
          { kind: 'tag', name: 'production' },
        ] as const) {
          expect(await read(name)).toEqual({ prompt: grown, version: first, tags });
        }
        for (const name of [
          { kind: 'number', number: 3 },
          { kind: 'id', id: 'other' },
          { kind: 'tag', name: 'staging' },
        ] as const) {
          expect(await read(name)).toMatchObject({ version: null });
        }
        const audited = sampleAudit(organizationId, { action: 'prompt.delete', targetId: prompt.id });
        expect(await prompts.remove(grown, audited)).toBe(true);
        expect(await prompts.remove(grown, { ...audited, id: 'audit_other' })).toBe(false);
        expect(await read(LATEST)).toBeNull();
        expect(await prompts.versions(grown, { before: null, limit: 10 })).toEqual([]);
        expect(
          await prompts.append({ ...grown, version: 3 }, next(organizationId, sampleVersion({ version: 3 }))),
        ).toBe('stale');
      }),
    );

    it(
      'have tags that name one version each, and begin with those of the first call alone',
      withStore(open, async (store) => {
        const { id: organizationId } = (await found(store)).organization;
        const { prompts } = store;
        const seeds = [sampleTag(organizationId, 'production'), sampleTag(organizationId, 'staging')];
        expect(await prompts.tags(organizationId, seeds)).toEqual(seeds);
        const again = seeds.map((seed) => ({ ...seed, id: `${seed.id}_again` }));
        expect(await prompts.tags(organizationId, again)).toEqual(seeds);
        const audited = (action: string) => sampleAudit(organizationId, { action, targetId: 'tag' });
        const canary = sampleTag(organizationId, 'canary');
        expect(await prompts.insertTag(canary, 2, audited('promptTag.create'))).toBe('limit_reached');
        expect(await prompts.insertTag(canary, 3, audited('promptTag.create'))).toBe('stored');
        const taken = { ...canary, id: 'prompttag_other' };
        expect(await prompts.insertTag(taken, MANY, audited('promptTag.create'))).toBe('name_taken');
        const renamed = { ...canary, name: 'staging' };
        expect(await prompts.replaceTag(renamed, audited('promptTag.update'))).toBe('name_taken');
        const version = sampleVersion();
        const prompt = samplePrompt(organizationId, version);
        await prompts.insert(prompt, next(organizationId, version), MANY);
        const use = { name: 'canary', versionId: version.id, atMs: AT_MS };
        expect(await prompts.assign(prompt, use, audited('prompt.tag'))).toBe('stored');
        expect(await prompts.assign(prompt, use, audited('prompt.tag'))).toBe('stored');
        expect(await prompts.assign(prompt, { ...use, versionId: 'other' }, audited('prompt.tag'))).toBe('gone');
        const beta = { ...canary, name: 'beta', protected: true };
        expect(await prompts.replaceTag(beta, audited('promptTag.update'))).toBe('stored');
        const viewer = { organizationId, projectId: 'project_1' };
        const tagsOf = async () => (await prompts.find(viewer, prompt.id, LATEST))?.tags;
        expect(await tagsOf()).toEqual([{ name: 'beta', versionId: version.id }]);
        expect(await prompts.removeTag(beta, audited('promptTag.delete'))).toBe(true);
        expect(await prompts.removeTag(beta, audited('promptTag.delete'))).toBe(false);
        expect(await prompts.replaceTag(beta, audited('promptTag.update'))).toBe('gone');
        expect(await tagsOf()).toEqual([]);
        expect(await prompts.tags(organizationId, [])).toEqual(seeds);
      }),
    );

    it(
      'move the version on that authentication returns, with every change and nothing else',
      withStore(open, async (store) => {
        const { organization, project } = await found(store);
        const { prompts } = store;
        const versionNow = async () => (await store.keys.findProject(project.id))?.promptVersion ?? -1;
        expect(await versionNow()).toBe(0);
        const version = sampleVersion();
        const prompt = samplePrompt(organization.id, version);
        const moved = async (change: () => Promise<unknown>) => {
          const before = await versionNow();
          await change();
          return (await versionNow()) - before;
        };
        const audited = () => sampleAudit(organization.id, { action: 'prompt.tag', targetId: prompt.id });
        const tag = sampleTag(organization.id, 'canary');
        expect(await moved(() => prompts.insert(prompt, next(organization.id, version), MANY))).toBe(1);
        expect(await moved(() => prompts.insertTag(tag, MANY, audited()))).toBe(1);
        const use = { name: 'canary', versionId: version.id, atMs: AT_MS };
        expect(await moved(() => prompts.assign(prompt, use, audited()))).toBe(1);
        expect(await moved(() => prompts.replaceTag({ ...tag, name: 'beta' }, audited()))).toBe(1);
        expect(await moved(() => prompts.removeTag(tag, audited()))).toBe(1);
        expect(await moved(() => prompts.tags(organization.id, []))).toBe(0);
        expect(await moved(() => prompts.insert(prompt, next(organization.id, sampleVersion()), 1))).toBe(0);
        const second = sampleVersion({ version: 2 });
        const grown = { ...prompt, version: 2, versionId: second.id };
        expect(await moved(() => prompts.append(grown, next(organization.id, second)))).toBe(1);
        expect(await moved(() => prompts.remove(grown, audited()))).toBe(1);
      }),
    );
  });
}
