/** What a report does to a run and its results: a pure function, so that telling it twice is the same as telling it once. */

import { canonicalJson } from '../canonical-json.ts';
import type {
  ExperimentResult,
  ExperimentRun,
  RefusedResult,
  ResultEvaluation,
  ResultKey,
  ResultReport,
  RunLimits,
  RunReport,
  RunTarget,
} from './experiment.ts';

export type AppliedReport = {
  readonly run: ExperimentRun;
  /** False: it says nothing new of the run itself. */
  readonly isRunChanged: boolean;
  /** Those that are new or have changed, as they are now. */
  readonly results: readonly SizedResult[];
  readonly refused: readonly RefusedResult[];
};

export type SizedResult = ExperimentResult & { readonly bytes: number };

/** `known` holds every stored result that the report names. What is refused costs nothing else its place. */
export function applyReport(
  run: ExperimentRun,
  known: readonly ExperimentResult[],
  { report, limits }: { readonly report: RunReport; readonly limits: RunLimits },
): AppliedReport {
  const stored = new Map(known.map((result) => [keyText(result), result]));
  const changed = new Map<string, SizedResult>();
  const refused: RefusedResult[] = [];
  const targets = mergeTargets(run, report.targets, limits);
  const evaluators = new Set(JSON.parse(run.evaluatorsJson) as readonly string[]);
  let { resultCount } = run;
  let { totalBytes } = targets;
  for (const told of report.results) {
    const key = keyText(told);
    const before = changed.get(key) ?? stored.get(key) ?? null;
    const after = merge(before, told);
    if (before !== null && isSame(withoutBytes(before), after)) continue;
    const bytes = resultBytes(after);
    const grownBytes = totalBytes + bytes - (before === null ? 0 : resultBytes(before));
    const names = after.evaluations.map(({ name }) => name).filter((name) => !evaluators.has(name));
    const count = resultCount + (before === null ? 1 : 0);
    const grown = { bytes, grownBytes, count, evaluators: evaluators.size + names.length };
    const problem = problemOf(after, grown, limits);
    if (problem !== null) {
      refused.push({ field: told.field, message: `${told.field} ${problem}` });
      continue;
    }
    if (before === null) resultCount += 1;
    totalBytes = grownBytes;
    for (const name of names) evaluators.add(name);
    changed.set(key, { ...after, bytes });
  }
  refused.push(...targets.refused);
  const told: ExperimentRun = {
    ...run,
    targetsJson: targets.json,
    evaluatorsJson: JSON.stringify([...evaluators]),
    total: largest(run.total, report.total),
    progress: largest(run.progress, report.progress),
    finishedAtMs: largest(run.finishedAtMs, report.finishedAtMs),
    resultCount,
    totalBytes,
  };
  const isRunChanged = changed.size > 0 || !isSame(run, told);
  const updatedAtMs = Math.max(run.updatedAtMs, report.nowMs);
  return { run: isRunChanged ? { ...told, updatedAtMs } : run, isRunChanged, results: [...changed.values()], refused };
}

export function keyText({ entryIndex, targetId }: ResultKey): string {
  return `${entryIndex}:${targetId}`;
}

/** Reports may overtake each other: what was said stands until something else is said. */
function merge(before: ExperimentResult | null, { field: _, ...told }: ResultReport): ExperimentResult {
  if (before === null) return { ...told, evaluations: mergeEvaluations([], told.evaluations) };
  return {
    entryIndex: told.entryIndex,
    targetId: told.targetId,
    entryId: told.entryId ?? before.entryId,
    traceId: told.traceId ?? before.traceId,
    entryJson: told.entryJson ?? before.entryJson,
    predictedJson: told.predictedJson ?? before.predictedJson,
    costUsd: told.costUsd ?? before.costUsd,
    durationMs: told.durationMs ?? before.durationMs,
    error: told.error ?? before.error,
    evaluations: mergeEvaluations(before.evaluations, told.evaluations),
  };
}

/** The later of two with one name takes the place of the first. */
function mergeEvaluations(
  before: readonly ResultEvaluation[],
  told: readonly ResultEvaluation[],
): readonly ResultEvaluation[] {
  return [...new Map([...before, ...told].map((evaluation) => [evaluation.name, evaluation])).values()];
}

function isSame(one: ExperimentResult | ExperimentRun, other: ExperimentResult | ExperimentRun): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function withoutBytes({ bytes: _, ...result }: ExperimentResult & { readonly bytes?: number }): ExperimentResult {
  return result;
}

type Grown = {
  readonly bytes: number;
  readonly grownBytes: number;
  readonly count: number;
  readonly evaluators: number;
};

function problemOf({ evaluations }: ExperimentResult, grown: Grown, limits: RunLimits): string | null {
  if (grown.count > limits.resultsMax) return `is one more than the ${limits.resultsMax} results of a run`;
  if (evaluations.length > limits.evaluationsMax) {
    return `would give its entry more than ${limits.evaluationsMax} evaluations`;
  }
  if (grown.evaluators > limits.evaluatorsMax) {
    return `would give its run evaluations of more than ${limits.evaluatorsMax} names`;
  }
  if (grown.bytes > limits.resultMaxBytes) return `would take more than the ${limits.resultMaxBytes} bytes of a result`;
  if (grown.grownBytes > limits.totalMaxBytes) return `would take more than the ${limits.totalMaxBytes} bytes of a run`;
  return null;
}

/** Of the texts, and a little for what is beside them. */
function resultBytes({ entryId, traceId, entryJson, predictedJson, error, evaluations }: ExperimentResult): number {
  const texts = [entryId, traceId, entryJson, predictedJson, error];
  return texts.reduce((sum, text) => sum + textBytes(text), ROW_BYTES) + textBytes(JSON.stringify(evaluations));
}

const ROW_BYTES = 100;

function textBytes(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text);
}

/** Only this function writes the list. */
function mergeTargets({ targetsJson: json, totalBytes }: ExperimentRun, told: readonly RunTarget[], limits: RunLimits) {
  if (told.length === 0) return { json, totalBytes, refused: [] };
  const known = JSON.parse(json) as readonly { readonly id: string }[];
  const targets = new Map(known.map((target) => [target.id, JSON.stringify(target)]));
  const restBytes = totalBytes - sumBytes([...targets.values()]);
  const bytesMax = Math.min(limits.targetsMaxBytes, limits.totalMaxBytes - restBytes);
  let bytes = totalBytes - restBytes;
  const refused: RefusedResult[] = [];
  for (const { id, targetJson } of told) {
    const grownBytes = bytes + textBytes(targetJson) - textBytes(targets.get(id) ?? null);
    if (!targets.has(id) && targets.size >= limits.targetsMax) {
      refused.push({ field: 'targets', message: `targets must be at most ${limits.targetsMax} of a run` });
    } else if (grownBytes > Math.max(bytesMax, bytes)) {
      refused.push({ field: 'targets', message: `targets must be at most ${limits.targetsMaxBytes} bytes of a run` });
    } else {
      bytes = grownBytes;
      targets.set(id, targetJson);
    }
  }
  return { json: `[${[...targets.values()].join(',')}]`, totalBytes: restBytes + bytes, refused };
}

function sumBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + textBytes(text), 0);
}

function largest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
