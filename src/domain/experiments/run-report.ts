/** Applies a report to a run and its results: a pure function, and idempotent. */

import { canonicalJson } from '../../json/canonical-json.ts';
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

type AppliedReport = {
  readonly run: ExperimentRun;
  /** False: the report changes nothing of the run itself. */
  readonly isRunChanged: boolean;
  /** New and changed results. */
  readonly results: readonly SizedResult[];
  readonly refused: readonly RefusedResult[];
};

export type SizedResult = ExperimentResult & { readonly bytes: number };

/** `known` holds every stored result that the report names. A refused result uses no capacity. */
export function applyReport(
  run: ExperimentRun,
  known: readonly ExperimentResult[],
  { report, limits }: { readonly report: RunReport; readonly limits: RunLimits },
): AppliedReport {
  const stored = new Map(known.map((result) => [resultKeyText(result), result]));
  const changed = new Map<string, SizedResult>();
  const refused: RefusedResult[] = [];
  const targets = mergeTargets(run, report.targets, limits);
  const evaluators = new Set(JSON.parse(run.evaluatorsJson) as readonly string[]);
  let { resultCount } = run;
  let { totalBytes } = targets;
  for (const reported of report.results) {
    const key = resultKeyText(reported);
    const before = changed.get(key) ?? stored.get(key) ?? null;
    const after = merge(before, reported);
    if (before !== null && isSame(withoutBytes(before), after)) continue;
    const bytes = resultBytes(after);
    const grownBytes = totalBytes + bytes - (before === null ? 0 : resultBytes(before));
    const names = after.evaluations.map(({ name }) => name).filter((name) => !evaluators.has(name));
    const count = resultCount + (before === null ? 1 : 0);
    const grown = { bytes, grownBytes, count, evaluators: evaluators.size + names.length };
    const problem = problemOf(after, grown, limits);
    if (problem !== null) {
      refused.push({ field: reported.field, message: `${reported.field} ${problem}` });
      continue;
    }
    if (before === null) resultCount += 1;
    totalBytes = grownBytes;
    for (const name of names) evaluators.add(name);
    changed.set(key, { ...after, bytes });
  }
  refused.push(...targets.refused);
  const next: ExperimentRun = {
    ...run,
    targetsJson: targets.json,
    evaluatorsJson: JSON.stringify([...evaluators]),
    total: largest(run.total, report.total),
    progress: largest(run.progress, report.progress),
    finishedAtMs: largest(run.finishedAtMs, report.finishedAtMs),
    resultCount,
    totalBytes,
  };
  const isRunChanged = changed.size > 0 || !isSame(run, next);
  const updatedAtMs = Math.max(run.updatedAtMs, report.nowMs);
  return { run: isRunChanged ? { ...next, updatedAtMs } : run, isRunChanged, results: [...changed.values()], refused };
}

export function resultKeyText({ entryIndex, targetId }: ResultKey): string {
  return `${entryIndex}:${targetId}`;
}

/** Reports may arrive out of order: a value stays until another report sets it. */
function merge(before: ExperimentResult | null, { field: _, ...reported }: ResultReport): ExperimentResult {
  if (before === null) return { ...reported, evaluations: mergeEvaluations([], reported.evaluations) };
  return {
    entryIndex: reported.entryIndex,
    targetId: reported.targetId,
    entryId: reported.entryId ?? before.entryId,
    traceId: reported.traceId ?? before.traceId,
    entryJson: reported.entryJson ?? before.entryJson,
    predictedJson: reported.predictedJson ?? before.predictedJson,
    costUsd: reported.costUsd ?? before.costUsd,
    durationMs: reported.durationMs ?? before.durationMs,
    error: reported.error ?? before.error,
    evaluations: mergeEvaluations(before.evaluations, reported.evaluations),
  };
}

/** A later evaluation replaces an earlier one with the same name, at its position. */
function mergeEvaluations(
  before: readonly ResultEvaluation[],
  reported: readonly ResultEvaluation[],
): readonly ResultEvaluation[] {
  return [...new Map([...before, ...reported].map((evaluation) => [evaluation.name, evaluation])).values()];
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

/** The bytes of the texts, plus an estimate for the other columns. */
function resultBytes({ entryId, traceId, entryJson, predictedJson, error, evaluations }: ExperimentResult): number {
  const texts = [entryId, traceId, entryJson, predictedJson, error];
  return texts.reduce((sum, text) => sum + textBytes(text), ROW_BYTES) + textBytes(JSON.stringify(evaluations));
}

const ROW_BYTES = 100;

function textBytes(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text);
}

/** The only writer of `targetsJson`, which is therefore parsed without checks. */
function mergeTargets(
  { targetsJson: json, totalBytes }: ExperimentRun,
  reported: readonly RunTarget[],
  limits: RunLimits,
) {
  if (reported.length === 0) return { json, totalBytes, refused: [] };
  const known = JSON.parse(json) as readonly RunTarget[];
  const targets = new Map(known.map((target) => [target.id, target]));
  let bytes = known.reduce((sum, target) => sum + targetBytes(target), 0);
  const restBytes = totalBytes - bytes;
  const bytesMax = Math.min(limits.targetsMaxBytes, limits.totalMaxBytes - restBytes);
  const refused: RefusedResult[] = [];
  for (const target of reported) {
    const before = targets.get(target.id);
    const grownBytes = bytes + targetBytes(target) - (before === undefined ? 0 : targetBytes(before));
    if (before === undefined && targets.size >= limits.targetsMax) {
      refused.push({ field: 'targets', message: `targets must be at most ${limits.targetsMax} of a run` });
    } else if (grownBytes > Math.max(bytesMax, bytes)) {
      refused.push({ field: 'targets', message: `targets must be at most ${limits.targetsMaxBytes} bytes of a run` });
    } else {
      bytes = grownBytes;
      targets.set(target.id, target);
    }
  }
  return { json: JSON.stringify([...targets.values()]), totalBytes: restBytes + bytes, refused };
}

/** The bytes of the texts. The names of the members and the escapes that the stored form adds do not count. */
function targetBytes({ id, name = '', type = '', metadataJson = '' }: RunTarget): number {
  return [id, name, type, metadataJson].reduce((sum, text) => sum + textBytes(text), 0);
}

function largest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
