/** Reads what spend sums from an event. */

import type { LosslessObject } from '../../json/lossless-json.ts';
import { USAGE_NAMES } from '../events/request-content.ts';
import { readLinkedPrompts } from '../traces/prompt-links.ts';
import type { SpendDimension } from './spend-store.ts';

/** The numbers of an event; all are null for an event that is not summed. */
export const NUMBERS = ['createdAtMs', 'occurredAtMs', 'error', 'costNanoUsd', ...USAGE_NAMES] as const;
export type NumberName = (typeof NUMBERS)[number];

/** What requests are grouped by, and all names of their prompts. */
export type SpendValues = SpendDimension | 'prompt_name';

/** The outcome of a request. */
export type Spending = {
  readonly id: string;
  readonly numbers: Readonly<Record<NumberName, number | null>>;
  readonly values: Readonly<Record<SpendValues, readonly string[]>>;
};

const OUTCOME = '"type":"gateway.request.completed"';

/** The payload that events/request-data.ts writes. */
type Data = {
  readonly occurred_at: string;
  readonly project_id: string;
  readonly virtual_key_id: string;
  readonly principal_user_id: string | null;
  readonly end_user_id: string | null;
  readonly model: string | null;
  readonly usage: Readonly<Record<UsageName, number>> | null;
  readonly cost: { readonly nano_usd: number } | null;
  readonly status: string;
  readonly labels: readonly string[];
  readonly metadata: LosslessObject;
};

type UsageName =
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_input_tokens'
  | 'cache_creation_input_tokens'
  | 'reasoning_tokens';

/** Null for an event that is not an outcome of a request. */
export function readSpending(envelope: string): Spending | null {
  // Avoids parsing other events.
  if (!envelope.includes(OUTCOME)) return null;
  const { id, type, created, data }: { id: string; type: string; created: string; data: Data } = JSON.parse(envelope);
  if (type !== 'gateway.request.completed') return null;
  const { usage, cost } = data;
  const { names, prompts, versions } = readLinkedPrompts(data.metadata);
  return {
    id,
    numbers: {
      createdAtMs: Date.parse(created),
      occurredAtMs: Date.parse(data.occurred_at),
      error: data.status === 'error' ? 1 : 0,
      costNanoUsd: cost?.nano_usd ?? null,
      inputTokens: usage?.input_tokens ?? 0,
      outputTokens: usage?.output_tokens ?? 0,
      cacheReadInputTokens: usage?.cache_read_input_tokens ?? 0,
      cacheCreationInputTokens: usage?.cache_creation_input_tokens ?? 0,
      reasoningTokens: usage?.reasoning_tokens ?? 0,
    },
    values: {
      project: [data.project_id],
      model: oneOf(data.model),
      virtual_key: oneOf(data.virtual_key_id),
      principal: oneOf(data.principal_user_id),
      end_user: oneOf(data.end_user_id),
      label: data.labels,
      ...{ prompt_id: prompts, prompt_version: versions, prompt_name: names },
    },
  };
}

function oneOf(value: string | null): readonly string[] {
  return value === null || value === '' ? [] : [value];
}
