/** A model provider as it is stored, and where its API is by default. */

export type ModelProviderKind = 'openai' | 'azure_openai' | 'anthropic' | 'openai_compatible';

/** Texts by names. */
export type NamedTexts = Readonly<Record<string, string>>;

export type ModelProviderRecord = {
  readonly organizationId: string;
  readonly id: string;
  /** Unique in the organization. */
  readonly name: string;
  readonly kind: ModelProviderKind;
  /** Without a slash at its end: the paths of the API follow. */
  readonly baseUrl: string;
  /** Of Azure alone. */
  readonly apiVersion: string | null;
  readonly extraHeaders: NamedTexts;
  /** Names of models, in which * stands for any characters; null: all. */
  readonly models: readonly string[] | null;
  /** Names that requests use, with the names at the provider. */
  readonly aliases: NamedTexts;
  /** Until the first byte of an answer. */
  readonly timeoutMs: number;
  /** The projects that use it; null: all of the organization. */
  readonly projectIds: readonly string[] | null;
  readonly streamUsage: boolean;
  readonly enabled: boolean;
  /** Sealed; null: the provider needs none. */
  readonly apiKey: Buffer | null;
  /** The end of the API key, to recognise it. */
  readonly keyHint: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** Null: each of these is somewhere else. */
export const DEFAULT_BASE_URLS: Readonly<Record<ModelProviderKind, string | null>> = {
  openai: 'https://api.openai.com/v1',
  azure_openai: null,
  anthropic: 'https://api.anthropic.com/v1',
  openai_compatible: null,
};

/** Only servers of one's own are used without a key. */
export function needsApiKey(kind: ModelProviderKind): boolean {
  return kind !== 'openai_compatible';
}
