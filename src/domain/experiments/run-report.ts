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
  const loaded = new Map(known.map((result) => [resultKeyText(result), loadResult(result)]));
  const refused: RefusedResult[] = [];
  const targets = mergeTargets(run, report.targets, limits);
  const evaluators = new Set(JSON.parse(run.evaluatorsJson) as readonly string[]);
  let { resultCount } = run;
  let { totalBytes } = targets;
  for (const reported of report.results) {
    const key = resultKeyText(reported);
    const before = loaded.get(key) ?? null;
    const after = changeResult(before, reported);
    if (after === null) continue;
    const grownBytes = totalBytes + after.bytes - (before?.bytes ?? 0);
    const names = [...after.evaluations.keys()].filter((name) => !evaluators.has(name));
    const count = resultCount + (before === null ? 1 : 0);
    const grown = { ...after, grownBytes, count, evaluators: evaluators.size + names.length };
    const problem = problemOf(grown, limits);
    if (problem !== null) {
      refused.push({ field: reported.field, message: `${reported.field} ${problem}` });
      continue;
    }
    if (before === null) resultCount += 1;
    totalBytes = grownBytes;
    for (const name of names) evaluators.add(name);
    const evaluations = before?.evaluations ?? new Map<string, ResultEvaluation>();
    for (const [name, evaluation] of after.evaluations) evaluations.set(name, evaluation);
    loaded.set(key, { ...after, evaluations, isChanged: true });
  }
  const results = [...loaded.values()].filter(({ isChanged }) => isChanged).map(toResult);
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
  const isRunChanged = results.length > 0 || canonicalJson(run) !== canonicalJson(next);
  const updatedAtMs = Math.max(run.updatedAtMs, report.nowMs);
  return { run: isRunChanged ? { ...next, updatedAtMs } : run, isRunChanged, results, refused };
}

export function resultKeyText({ entryIndex, targetId }: ResultKey): string {
  return `${entryIndex}:${targetId}`;
}

/** About what storing a reported result costs: the bytes of its texts. */
export function reportedBytes({ evaluations, ...fields }: ResultReport): number {
  const texts = evaluations.flatMap(({ name, details, inputsJson }) => [name, details, inputsJson]);
  return [...texts, ...TEXTS.map((name) => fields[name])].reduce((sum, text) => sum + textBytes(text), 0);
}

type ResultFields = Omit<ExperimentResult, 'evaluations'>;

/** A result while reports are applied to it: an evaluation costs the same, however large the result is. */
type LoadedResult = {
  readonly fields: ResultFields;
  readonly evaluations: Map<string, ResultEvaluation>;
  readonly bytes: number;
  readonly isChanged: boolean;
};

function loadResult({ evaluations, ...fields }: ExperimentResult): LoadedResult {
  const byName = new Map(evaluations.map((evaluation) => [evaluation.name, evaluation]));
  const bytes = TEXTS.reduce((sum, name) => sum + textBytes(fields[name]), ROW_BYTES);
  return { fields, evaluations: byName, bytes: bytes + textBytes(JSON.stringify(evaluations)), isChanged: false };
}

function toResult({ fields, evaluations, bytes }: LoadedResult): SizedResult {
  return { ...fields, evaluations: [...evaluations.values()], bytes };
}

type ResultChange = {
  readonly fields: ResultFields;
  /** The new ones, and those that replace an earlier one with the same name, at its position. */
  readonly evaluations: ReadonlyMap<string, ResultEvaluation>;
  /** Of the result with the change. */
  readonly bytes: number;
  readonly evaluationCount: number;
};

/** Null: nothing changes. Reports may arrive out of order: a value stays until another report sets it. */
function changeResult(
  before: LoadedResult | null,
  { field: _, evaluations: sent, ...reported }: ResultReport,
): ResultChange | null {
  const evaluationsBefore = before?.evaluations ?? new Map<string, ResultEvaluation>();
  const fields = before === null ? reported : mergeFields(before.fields, reported);
  const evaluations = new Map<string, ResultEvaluation>();
  let evaluationCount = evaluationsBefore.size;
  let bytes = before?.bytes ?? ROW_BYTES + textBytes('[]');
  for (const [name, evaluation] of new Map(sent.map((each) => [each.name, each]))) {
    const text = JSON.stringify(evaluation);
    const known = evaluationsBefore.get(name);
    const knownText = known === undefined ? null : JSON.stringify(known);
    if (text === knownText) continue;
    evaluations.set(name, evaluation);
    // Each but the first has a comma before it.
    bytes += textBytes(text) - textBytes(knownText) + (known === undefined && evaluationCount > 0 ? 1 : 0);
    if (known === undefined) evaluationCount += 1;
  }
  const changed = FIELDS.filter((name) => before === null || fields[name] !== before.fields[name]);
  if (changed.length === 0 && evaluations.size === 0) return null;
  for (const name of TEXTS) {
    if (changed.includes(name)) bytes += textBytes(fields[name]) - textBytes(before?.fields[name] ?? null);
  }
  return { fields, evaluations, evaluationCount, bytes };
}

const TEXTS = ['entryId', 'traceId', 'entryJson', 'predictedJson', 'error'] as const;
const FIELDS = [...TEXTS, 'costUsd', 'durationMs'] as const;

function mergeFields(before: ResultFields, reported: ResultFields): ResultFields {
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
  };
}

type Grown = Pick<ResultChange, 'bytes' | 'evaluationCount'> & {
  readonly grownBytes: number;
  readonly count: number;
  readonly evaluators: number;
};

function problemOf(grown: Grown, limits: RunLimits): string | null {
  if (grown.count > limits.resultsMax) return `is one more than the ${limits.resultsMax} results of a run`;
  if (grown.evaluationCount > limits.evaluationsMax) {
    return `would give its entry more than ${limits.evaluationsMax} evaluations`;
  }
  if (grown.evaluators > limits.evaluatorsMax) {
    return `would give its run evaluations of more than ${limits.evaluatorsMax} names`;
  }
  if (grown.bytes > limits.resultMaxBytes) return `would take more than the ${limits.resultMaxBytes} bytes of a result`;
  if (grown.grownBytes > limits.totalMaxBytes) return `would take more than the ${limits.totalMaxBytes} bytes of a run`;
  return null;
}

/** An estimate for the columns without text. */
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
