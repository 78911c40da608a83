/**
 * Sums up evaluations by going through the traces of a range with them, a part at a time. Between the parts others have
 * their turn, also where few of the traces have evaluations.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createEvaluationTallies, type EvaluationTallies } from '../../domain/evaluations/analytics/tallies.ts';
import type { EvaluationsAnswer, EvaluationsQuestion } from '../../domain/trace-analytics-store.ts';
import { ANSWER_MAX_MS } from './answer-time.ts';
import type { AnalyticsAsking } from './trace-pages.ts';

type Place = { readonly afterMs: number; readonly afterSequence: number };

const TRACES_AT_ONCE = 2_000;
const EVALUATIONS_AT_ONCE = 1_000;
const FIRST_SEQUENCE = -1;

export async function sumUpEvaluations(
  asking: AnalyticsAsking,
  question: EvaluationsQuestion,
): Promise<EvaluationsAnswer> {
  const { questions, ask } = asking;
  const { projectNumber, fromMs, toMs } = question;
  const tallies = createEvaluationTallies(question);
  const endsAtMs = asking.nowMs() + ANSWER_MAX_MS;
  let place: Place = { afterMs: fromMs, afterSequence: FIRST_SEQUENCE };
  for (;;) {
    const [last] = await ask(questions.findTraceBehind, { projectNumber, toMs, ...place, count: TRACES_AT_ONCE });
    const lastMs = last?.startMs ?? toMs;
    const lastSequence = last?.sequence ?? Number.MAX_SAFE_INTEGER;
    const isCounted = await addPart(asking, tallies, { question, ...place, lastMs, lastSequence, endsAtMs });
    if (asking.nowMs() > endsAtMs) return { kind: 'too_long' };
    if (last === undefined || !isCounted) return tallies.answer();
    place = { afterMs: lastMs, afterSequence: lastSequence };
  }
}

type Part = Place & {
  readonly question: EvaluationsQuestion;
  readonly lastMs: number;
  readonly lastSequence: number;
  readonly endsAtMs: number;
};

/** False: there is more than can be counted. */
async function addPart(
  { questions, ask, nowMs }: AnalyticsAsking,
  tallies: EvaluationTallies,
  { question, endsAtMs, ...bounds }: Part,
): Promise<boolean> {
  const { projectNumber, goneBeforeMs } = question;
  const receivedFromMs = goneBeforeMs ?? Number.MIN_SAFE_INTEGER;
  // Behind all evaluations of the trace before, which belonged to another part.
  let behind = { afterMs: bounds.afterMs, afterSequence: bounds.afterSequence + 1, afterId: '' };
  while (nowMs() <= endsAtMs) {
    const { lastMs, lastSequence } = bounds;
    const given = { projectNumber, receivedFromMs, lastMs, lastSequence, ...behind, limit: EVALUATIONS_AT_ONCE };
    const rows = await ask(questions.listEvaluations, given);
    for (const row of rows) if (!tallies.add(row)) return false;
    await nextTurn();
    const last = rows.at(-1);
    if (last === undefined || rows.length < EVALUATIONS_AT_ONCE) return true;
    behind = { afterMs: last.startMs, afterSequence: last.sequence, afterId: last.evaluationId };
  }
  return true;
}
