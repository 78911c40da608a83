/** Short facts about a trace. */

import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';

type KnownMetadata = { readonly user?: string; readonly thread?: string; readonly labels: readonly string[] };

const NOTHING: KnownMetadata = { labels: [] };

export function metadataOf({ metadataJson }: Pick<Trace, 'metadataJson'>): KnownMetadata {
  if (metadataJson === '') return NOTHING;
  const known: unknown = JSON.parse(metadataJson);
  if (typeof known !== 'object' || known === null) return NOTHING;
  const { user_id, thread_id, labels } = known as Record<string, unknown>;
  return {
    ...(typeof user_id === 'string' && { user: user_id }),
    ...(typeof thread_id === 'string' && { thread: thread_id }),
    labels: Array.isArray(labels) ? labels.filter((label) => typeof label === 'string') : [],
  };
}

/** The common verdict of the evaluations of a trace; null without any. */
export function verdictOf({
  evaluations,
}: Pick<Trace, 'evaluations'>): { readonly text: string; readonly tone: 'good' | 'bad' | 'quiet' } | null {
  if (evaluations.length === 0) return null;
  const failed = evaluations.filter(({ passed }) => passed === false).length;
  const passed = evaluations.filter(({ passed }) => passed === true).length;
  if (failed > 0) return { text: `${failed} failed`, tone: 'bad' };
  if (passed > 0) return { text: `${passed} passed`, tone: 'good' };
  return { text: `${evaluations.length} made`, tone: 'quiet' };
}
