/** Prompts with their versions, and the tags that name some of these. */

import { defineEntity } from '@mikro-orm/core';
import type { PromptScope } from '../../domain/prompts/prompt.ts';
import type { PromptConfig } from '../../domain/prompts/prompt-config.ts';
import { enumText, flag, id, instant, integer, json, parsed, text, times } from './kinds.ts';

export const PromptRow = defineEntity({
  name: 'Prompt',
  tableName: 'prompts',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    projectId: id(),
    scope: enumText<PromptScope>(),
    // The project or the organization in which the handle is unique.
    ownerId: id(),
    handle: id(),
    version: integer(),
    versionId: id(),
    ...times(),
  },
  indexes: [{ name: 'prompts_by_update', properties: ['organizationId', 'updatedAtMs', 'id'] }],
  uniques: [{ name: 'prompts_by_handle', properties: ['organizationId', 'ownerId', 'handle'] }],
});

export const PromptVersionRow = defineEntity({
  name: 'PromptVersion',
  tableName: 'prompt_versions',
  properties: {
    organizationId: id().primary(),
    promptId: id().primary(),
    version: integer().primary(),
    id: id(),
    authorId: text().strictNullable(),
    commitMessage: text().strictNullable(),
    config: parsed<PromptConfig>('config'),
    parametersJson: json('parameters'),
    createdAtMs: instant('created_at'),
  },
  uniques: [{ name: 'prompt_versions_by_id', properties: ['organizationId', 'id'] }],
});

export const PromptTagRow = defineEntity({
  name: 'PromptTag',
  tableName: 'prompt_tags',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    name: id(),
    protected: flag(),
    createdAtMs: instant('created_at'),
  },
  uniques: [{ name: 'prompt_tags_by_name', properties: ['organizationId', 'name'] }],
});

/** The version of a prompt that a tag names. */
export const PromptTagUseRow = defineEntity({
  name: 'PromptTagUse',
  tableName: 'prompt_tag_uses',
  properties: {
    organizationId: id().primary(),
    promptId: id().primary(),
    tagId: id().primary(),
    versionId: id(),
    updatedAtMs: instant('updated_at'),
  },
});
