/** The form of a convention: which attributes a family of instrumentations writes. */

import type { Source } from '../span-view.ts';

/** Counts that a convention has names for. */
export type UsageField =
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'reasoning_tokens'
  | 'cache_read_input_tokens'
  | 'cache_creation_input_tokens'
  | 'ephemeral_5m_input_tokens'
  | 'ephemeral_1h_input_tokens'
  | 'input_audio_tokens'
  | 'output_audio_tokens'
  | 'total_tokens';

/** Members of a JSON object that add up; dots lead to members of members. */
export type MembersSource = { readonly json: string; readonly members: readonly string[] };

/** An attribute with a count, members of an attribute, or what a function reads. */
export type UsageSource = string | MembersSource | Source;

/** For each field its sources; the first present one wins. */
export type UsageTable = { readonly [Field in UsageField]?: readonly UsageSource[] };

export type Convention = {
  readonly name: string;
  readonly usage: UsageTable;
  /** Any of these on a span shows that it has usage of this convention. */
  readonly marks: readonly string[];
  /** Attributes and instrumentation scopes that only its spans have; on these it comes before all others. */
  readonly signs?: readonly string[];
  readonly scopes?: readonly string[];
  /**
   * Whether the prompt tokens include those of the cache; null, or undefined from a source: conventions differ, so the
   * price list decides.
   */
  readonly cachedTokensInPrompt: boolean | null | Source<boolean>;
  /** The same for models of Anthropic, where it differs. */
  readonly cachedTokensInPromptOfClaude?: boolean | Source<boolean>;
};

/** A convention with the sources of each field as a list: reading members of an object anew for each span is slow. */
export type ReadConvention = Convention & { readonly sources: readonly FieldSources[] };

type FieldSources = { readonly field: UsageField; readonly sources: readonly UsageSource[] };

export function toRead(convention: Convention): ReadConvention {
  const fields = Object.entries(convention.usage) as readonly (readonly [UsageField, readonly UsageSource[]])[];
  return { ...convention, sources: fields.map(([field, sources]) => ({ field, sources })) };
}

/** The attributes of all sources that have one. */
export function attributesIn(usage: UsageTable): readonly string[] {
  return Object.values(usage).flatMap((sources) =>
    sources.flatMap((source) =>
      typeof source === 'string' ? [source] : typeof source === 'function' ? [] : [source.json],
    ),
  );
}
