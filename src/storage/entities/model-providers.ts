import { defineEntity } from '@mikro-orm/core';
import type { ModelProviderKind, NamedTexts } from '../../domain/model-providers/model-provider.ts';
import { bytes, enumText, flag, id, integer, parsed, text, times } from './kinds.ts';

export const ModelProviderRow = defineEntity({
  name: 'ModelProvider',
  tableName: 'model_providers',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    name: id(),
    kind: enumText<ModelProviderKind>(),
    baseUrl: text(),
    apiVersion: text().strictNullable(),
    extraHeaders: parsed<NamedTexts>('extra_headers'),
    models: parsed<readonly string[]>('models').strictNullable(),
    aliases: parsed<NamedTexts>('aliases'),
    timeoutMs: integer(),
    projectIds: parsed<readonly string[]>('project_ids').strictNullable(),
    streamUsage: flag(),
    enabled: flag(),
    apiKey: bytes().strictNullable(),
    keyHint: text().strictNullable(),
    ...times(),
  },
  uniques: [{ name: 'model_providers_by_name', properties: ['organizationId', 'name'] }],
});
