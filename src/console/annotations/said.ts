/** Words for feedback and for scores. */

import type { Annotation, AnnotationScore } from '../../../gen/spandrel/v1/annotations_pb.js';
import type { Trace, TraceEvent } from '../../../gen/spandrel/v1/traces_pb.js';

const VOTES = 'thumbs_up_down';

type Vote = { readonly tone: 'good' | 'bad' | 'quiet'; readonly label: string };

function voteOf({ eventType }: TraceEvent, vote: number | undefined): Vote | null {
  if (eventType !== VOTES || vote === undefined) return null;
  if (vote === 0) return { tone: 'quiet', label: 'Vote taken back' };
  return vote > 0 ? { tone: 'good', label: 'Thumbs up' } : { tone: 'bad', label: 'Thumbs down' };
}

export function wordsOfEvent(event: TraceEvent) {
  const metrics = Object.entries(JSON.parse(event.metricsJson) as Record<string, number>);
  const details = Object.entries(JSON.parse(event.eventDetailsJson) as Record<string, string | number | boolean>);
  const vote = voteOf(event, metrics.find(([name]) => name === 'vote')?.[1]);
  const shown = metrics.filter(([name]) => vote === null || name !== 'vote');
  return {
    vote,
    metrics: shown.map(([name, value]) => `${name}: ${value}`).join(', '),
    details: details.map(([name, value]) => [name, String(value)] as const),
  };
}

/** How users voted on a trace, and how many annotations it has, for a list; empty without any. */
export function countSaid({ events, annotationCount }: Pick<Trace, 'events' | 'annotationCount'>): string {
  const votes = events.filter(({ eventType }) => eventType === VOTES).map((event) => wordsOfEvent(event).vote?.tone);
  const [up, down] = [votes.filter((tone) => tone === 'good').length, votes.filter((tone) => tone === 'bad').length];
  const parts = [
    up > 0 && `${up} up`,
    down > 0 && `${down} down`,
    annotationCount > 0 && `${annotationCount} ${annotationCount === 1 ? 'annotation' : 'annotations'}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

type Given = { readonly value: string | number | boolean };

/** The scores of an annotation, by the names of their definitions. */
export function scoresOf(
  { scoreOptionsJson = '{}' }: Annotation,
  defined: readonly AnnotationScore[],
): readonly (readonly [name: string, value: string])[] {
  const names = new Map(defined.map(({ id, name }) => [id, name]));
  const given = Object.entries(JSON.parse(scoreOptionsJson) as Record<string, Given>);
  return given.map(([id, { value }]) => [names.get(id) ?? id, String(value)] as const);
}
