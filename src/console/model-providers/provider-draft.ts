/** Converts a model provider between the form and the API. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateModelProviderRequestSchema,
  type ModelProvider,
  ModelProviderKind,
} from '../../../gen/spandrel/v1/model_providers_pb.js';
import { linesOf } from '../design/format.ts';
import type { Problem } from '../design/problem.ts';

export type ProviderDraft = {
  readonly name: string;
  readonly kind: ModelProviderKind;
  readonly baseUrl: string;
  /** Empty keeps the stored one. */
  readonly apiKey: string;
  /** Whether the stored API key is removed. */
  readonly forgetsKey: boolean;
  readonly apiVersion: string;
  /** Lines. */
  readonly models: string;
  readonly aliases: string;
  readonly headers: string;
  readonly timeoutMs: string;
  /** Empty: all. */
  readonly projectIds: readonly string[];
  readonly streamUsage: boolean;
};

export const KINDS: readonly (readonly [kind: ModelProviderKind, label: string])[] = [
  [ModelProviderKind.OPENAI, 'OpenAI'],
  [ModelProviderKind.ANTHROPIC, 'Anthropic'],
  [ModelProviderKind.AZURE_OPENAI, 'Azure OpenAI'],
  [ModelProviderKind.OPENAI_COMPATIBLE, 'Compatible with OpenAI'],
];

export function kindLabel(kind: ModelProviderKind): string {
  return KINDS.find(([each]) => each === kind)?.[1] ?? 'unknown';
}

export function toProviderDraft(provider: ModelProvider): ProviderDraft {
  return {
    name: provider.name ?? '',
    kind: provider.kind,
    baseUrl: provider.baseUrl ?? '',
    apiKey: '',
    forgetsKey: false,
    apiVersion: provider.apiVersion ?? '',
    models: provider.models?.names.join('\n') ?? '',
    aliases: writePairs(provider.aliasesJson, ALIAS),
    headers: writePairs(provider.extraHeadersJson, HEADER),
    timeoutMs: String(provider.timeoutMs ?? ''),
    projectIds: provider.projectIds?.ids ?? [],
    streamUsage: provider.streamUsage ?? true,
  };
}

export const hasDefaultUrl = (kind: ModelProviderKind): boolean =>
  kind === ModelProviderKind.OPENAI || kind === ModelProviderKind.ANTHROPIC;
export const needsKey = (kind: ModelProviderKind): boolean => kind !== ModelProviderKind.OPENAI_COMPATIBLE;
export const isAzure = (kind: ModelProviderKind): boolean => kind === ModelProviderKind.AZURE_OPENAI;

/** The lines that are not pairs. */
export function providerProblems({ aliases, headers }: ProviderDraft): readonly Problem[] {
  return [
    ...pairProblems('aliases', aliases, ALIAS, 'name = model'),
    ...pairProblems('extra_headers', headers, HEADER, 'Name: text'),
  ];
}

/** Leaves out what is empty: a new provider then has its default, and a change names the field in its mask. */
export function toProvider(draft: ProviderDraft) {
  const { kind, baseUrl, apiKey, apiVersion, timeoutMs, projectIds } = draft;
  const names = linesOf(draft.models);
  return {
    name: draft.name.trim(),
    kind,
    ...(baseUrl.trim() !== '' && { baseUrl: baseUrl.trim() }),
    ...(apiKey.trim() !== '' && { apiKey: apiKey.trim() }),
    ...(isAzure(kind) && apiVersion.trim() !== '' && { apiVersion: apiVersion.trim() }),
    ...(names.length > 0 && { models: { names } }),
    aliasesJson: JSON.stringify(readPairs(draft.aliases, ALIAS)),
    extraHeadersJson: JSON.stringify(readPairs(draft.headers, HEADER)),
    ...(timeoutMs !== '' && { timeoutMs: Number(timeoutMs) }),
    ...(projectIds.length > 0 && { projectIds: { ids: [...projectIds] } }),
    streamUsage: draft.streamUsage,
  } satisfies MessageInitShape<typeof CreateModelProviderRequestSchema>;
}

/** The fields of a change: all that the form has. */
export function providerPaths({ kind, apiKey, forgetsKey }: ProviderDraft): string[] {
  return [
    ...['name', 'base_url', 'models', 'aliases_json', 'extra_headers_json', 'timeout_ms', 'project_ids'],
    'stream_usage',
    ...(isAzure(kind) ? ['api_version'] : []),
    ...(apiKey.trim() !== '' || forgetsKey ? ['api_key'] : []),
  ];
}

/** What stands between the name and the text of a line. */
const ALIAS = '=';
const HEADER = ':';

function readPairs(text: string, mark: string): { readonly [name: string]: string } {
  const pairs = linesOf(text).map((line) => {
    const at = line.indexOf(mark);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(pairs);
}

function writePairs(json: string | undefined, mark: string): string {
  const pairs = Object.entries(JSON.parse(json ?? '{}') as { readonly [name: string]: string });
  return pairs.map(([name, text]) => (mark === HEADER ? `${name}: ${text}` : `${name} = ${text}`)).join('\n');
}

function pairProblems(field: string, text: string, mark: string, form: string): readonly Problem[] {
  const wrong = linesOf(text).find((line) => line.indexOf(mark) < 1);
  return wrong === undefined ? [] : [{ field, text: `“${wrong}” does not have the form “${form}”.` }];
}
