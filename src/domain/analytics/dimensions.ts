/** The dimensions by which analytics filter and group traces, read from their metadata. */

import { isArray, isObject, parseFreeJson } from '../../json/free-json.ts';
import { type LinkedPrompts, readLinkedPrompts } from '../traces/prompt-links.ts';
import type { GroupBy } from './query.ts';
import type { TraceConditions } from './trace-analytics-store.ts';

export type Dimensions = {
  readonly userId: string | null;
  readonly customerId: string | null;
  readonly threadId: string | null;
  readonly labels: readonly string[];
  readonly prompts: LinkedPrompts;
};

/** Reads the stored metadata of a trace. */
export function readDimensions(metadataJson: string): Dimensions {
  const metadata = parseFreeJson(metadataJson);
  const member = (key: string) => (isObject(metadata) && Object.hasOwn(metadata, key) ? metadata[key] : undefined);
  const text = (key: string) => {
    const value = member(key);
    return typeof value === 'string' ? value : null;
  };
  const labels = member('labels');
  return {
    userId: text('user_id'),
    customerId: text('customer_id'),
    threadId: text('thread_id'),
    labels: isArray(labels) ? [...new Set(labels.filter((label) => typeof label === 'string'))] : [],
    prompts: readLinkedPrompts(isObject(metadata) ? metadata : {}),
  };
}

/** Whether a trace fits the conditions, except the one on models, which spans decide. */
export function matchTrace(dimensions: Dimensions, conditions: TraceConditions): boolean {
  const { userId, customerId, threadId, label, promptId, promptVersion } = conditions;
  return (
    (userId === null || dimensions.userId === userId) &&
    (customerId === null || dimensions.customerId === customerId) &&
    (threadId === null || dimensions.threadId === threadId) &&
    (label === null || dimensions.labels.includes(label)) &&
    [promptId, promptVersion].every((name) => name === null || dimensions.prompts.names.includes(name))
  );
}

const NO_GROUP = [null] as const;

/** The groups of a trace; a trace with several labels or prompts is in several. */
export function groupsOfTrace(
  dimensions: Dimensions,
  groupBy: Exclude<GroupBy, 'none' | 'model'>,
): readonly (string | null)[] {
  switch (groupBy) {
    case 'user_id':
      return [dimensions.userId];
    case 'customer_id':
      return [dimensions.customerId];
    case 'thread_id':
      return [dimensions.threadId];
    case 'label':
      return orNone(dimensions.labels);
    case 'prompt_id':
      return orNone(dimensions.prompts.prompts);
    case 'prompt_version':
      return orNone(dimensions.prompts.versions);
  }
}

function orNone(values: readonly string[]): readonly (string | null)[] {
  return values.length === 0 ? NO_GROUP : values;
}

/** Substrings of the stored metadata of every matching trace; two are selective enough for the database. */
export function needlesOf({ userId, customerId, threadId, ...listed }: TraceConditions): readonly string[] {
  const named = { user_id: userId, thread_id: threadId, customer_id: customerId };
  const needles = Object.entries(named).flatMap(([key, value]) =>
    value === null ? [] : [`${JSON.stringify(key)}:${JSON.stringify(value)}`],
  );
  for (const value of [listed.label, listed.promptId, listed.promptVersion]) {
    if (value !== null) needles.push(JSON.stringify(value));
  }
  return needles.slice(0, 2);
}
