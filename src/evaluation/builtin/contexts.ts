/** Scores retrieved contexts against expected ones by the similarity of their texts. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { textsOf } from './fields.ts';
import { processed } from './outcomes.ts';
import { codePointsOf, findSimilarity } from './similarity.ts';

export function scoreContextPrecision(run: EvaluationRun): EvaluationOutcome {
  return scoreContexts(run, { pick: ({ precision }) => precision });
}

export function scoreContextRecall(run: EvaluationRun): EvaluationOutcome {
  return scoreContexts(run, { pick: ({ recall }) => recall });
}

export function scoreContextF1(run: EvaluationRun): EvaluationOutcome {
  return scoreContexts(run, { pick: harmonicMean, explain: describeBoth });
}

type Scores = { readonly precision: number; readonly recall: number };
type Scoring = {
  readonly pick: (scores: Scores) => number;
  /** The details of the result. */
  readonly explain?: (scores: Scores) => string;
};

function scoreContexts(run: EvaluationRun, { pick, explain }: Scoring): EvaluationOutcome {
  const contexts = textsOf(run, 'contexts');
  const expected = textsOf(run, 'expected_contexts');
  const empty = scoresOfNothing(contexts, expected);
  if (empty !== null) return processed({ score: pick(empty.scores), details: empty.details });
  const scores = compareContexts(contexts, expected, String(run.settings.distance_measure));
  return processed({ score: pick(scores), ...(explain === undefined ? {} : { details: explain(scores) }) });
}

function scoresOfNothing(contexts: readonly string[], expected: readonly string[]) {
  if (contexts.length === 0 && expected.length === 0) {
    return { scores: { precision: 1, recall: 1 }, details: 'Both contexts and expected_contexts are empty' };
  }
  if (expected.length === 0) return { scores: { precision: 0, recall: 1 }, details: 'expected_contexts is empty' };
  if (contexts.length === 0) return { scores: { precision: 0, recall: 0 }, details: 'contexts is empty' };
  return null;
}

const RELEVANT_MIN = 0.5;

function compareContexts(contexts: readonly string[], expected: readonly string[], distanceMeasure: string): Scores {
  const similarity = findSimilarity(distanceMeasure);
  const retrieved = contexts.map(codePointsOf);
  const best = new Array<number>(contexts.length).fill(0);
  let recalled = 0;
  for (const wanted of expected.map(codePointsOf)) {
    let bestOfWanted = 0;
    retrieved.forEach((context, index) => {
      const likeness = similarity(context, wanted);
      best[index] = Math.max(best[index] ?? 0, likeness);
      bestOfWanted = Math.max(bestOfWanted, likeness);
    });
    // A context is relevant at exactly one half, but an expected one is found only above it.
    if (bestOfWanted > RELEVANT_MIN) recalled += 1;
  }
  return { precision: averagePrecision(best.map((each) => each >= RELEVANT_MIN)), recall: recalled / expected.length };
}

/** The mean of the precision at the rank of each relevant context. */
function averagePrecision(relevance: readonly boolean[]): number {
  let relevant = 0;
  let sum = 0;
  relevance.forEach((isRelevant, index) => {
    if (!isRelevant) return;
    relevant += 1;
    sum += relevant / (index + 1);
  });
  return relevant === 0 ? 0 : sum / relevant;
}

function harmonicMean({ precision, recall }: Scores): number {
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}

function describeBoth({ precision, recall }: Scores): string {
  return `Precision: ${shorten(precision)}, Recall: ${shorten(recall)}`;
}

function shorten(value: number): string {
  return String(Number(value.toFixed(4)));
}
