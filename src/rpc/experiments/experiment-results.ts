/** Results of experiments: message <-> domain values. An invalid item does not affect the others. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ExperimentEvaluation,
  ExperimentResultSchema,
  ExperimentTarget,
  ListExperimentRunResultsResponseSchema,
  LogExperimentResultsRequest,
  ExperimentResult as ResultMessage,
} from '../../../gen/spandrel/v1/experiments_pb.js';
import { EvaluationStatus } from '../../../gen/spandrel/v1/traces_pb.js';
import { METADATA_BYTES_MAX } from '../../domain/events/event-metadata.ts';
import type {
  ExperimentResult,
  RefusedResult,
  ResultEvaluation,
  ResultKey,
  ResultReport,
  RunTarget,
} from '../../domain/experiments/experiment.ts';
import type { RunLog } from '../../domain/experiments/runs.ts';
import { hasMoreBytesThan, hasMoreCharactersThan } from '../../domain/text-limits.ts';
import { findJsonProblem } from '../../json/bounded-json.ts';
import { MEMBERS_MAX } from '../../json/json-scan.ts';
import { wordOf } from '../enums.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import { unsetNulls } from '../field-values.ts';
import { EVALUATION_STATUSES } from '../traces/trace-message.ts';

const INDEX_MAX = 1_000_000;
const ID_CHARACTERS_MAX = 200;
const NAME_CHARACTERS_MAX = 255;
/** How deep JSON texts may nest. */
const DEPTH_MAX = 126;

export function readLog(request: LogExperimentResultsRequest): {
  readonly log: RunLog;
  readonly refused: readonly RefusedResult[];
} {
  const refused: RefusedResult[] = [];
  const keep = <Sent, Parsed extends object>(
    sent: readonly Sent[],
    name: string,
    read: (item: Sent, field: string) => Parsed | string,
  ): readonly Parsed[] =>
    sent.flatMap((item, index) => {
      const field = `${name}.${index}`;
      const parsed = read(item, field);
      if (typeof parsed !== 'string') return [parsed];
      refused.push({ field, message: `${field} ${parsed}` });
      return [];
    });
  const results = [
    ...keep(request.dataset, 'dataset', readResult),
    ...keep(request.evaluations, 'evaluations', readBeside),
  ];
  const { createdAt, finishedAt } = request.timestamps ?? {};
  const log: RunLog = {
    name: request.name ?? null,
    createdAtMs: createdAt === undefined ? null : msOfTimestamp(createdAt),
    finishedAtMs: finishedAt === undefined ? null : msOfTimestamp(finishedAt),
    targets: keep(request.targets, 'targets', readTarget),
    total: request.total ?? null,
    progress: request.progress ?? null,
    results,
  };
  return { log, refused };
}

/** A result, or the reason why the item is invalid. */
function readResult(sent: ResultMessage, field: string): ResultReport | string {
  const key = readKey(sent);
  if (typeof key === 'string') return key;
  const problem =
    numberProblem({ cost: sent.cost, duration: sent.duration }) ??
    negativeProblem({ cost: sent.cost, duration: sent.duration }) ??
    jsonProblem('entry', sent.entryJson) ??
    jsonProblem('predicted', sent.predictedJson);
  if (problem !== null) return problem;
  const evaluations: ResultEvaluation[] = [];
  for (const each of sent.evaluations) {
    const evaluation = readEvaluation(each);
    if (typeof evaluation === 'string') return evaluation;
    evaluations.push(evaluation);
  }
  return {
    ...key,
    field,
    entryId: sent.entryId ?? entryIdIn(sent.entryJson),
    traceId: filled(sent.traceId),
    entryJson: sent.entryJson ?? null,
    predictedJson: sent.predictedJson ?? null,
    costUsd: sent.cost ?? null,
    durationMs: sent.duration ?? null,
    error: sent.error?.replaceAll('\0', '') || null,
    evaluations,
  };
}

/** An evaluation, with the name of the result it belongs to. */
function readBeside(sent: ExperimentEvaluation, field: string): ResultReport | string {
  const key = readKey(sent);
  if (typeof key === 'string') return key;
  const evaluation = readEvaluation(sent);
  if (typeof evaluation === 'string') return evaluation;
  const nothing = { entryId: null, traceId: null, entryJson: null, predictedJson: null, costUsd: null };
  return { ...key, ...nothing, field, durationMs: null, error: null, evaluations: [evaluation] };
}

type SentKey = {
  readonly index?: number | undefined;
  readonly targetId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly entryId?: string | undefined;
};

function readKey({ index, targetId = '', traceId = '', entryId = '' }: SentKey) {
  if (index === undefined) return 'must have an index';
  if (index < 0 || index > INDEX_MAX) return `must have an index of 0 to ${INDEX_MAX}`;
  const ids = [targetId, traceId, entryId];
  if (ids.some((id) => hasMoreCharactersThan(id, ID_CHARACTERS_MAX) || id.includes('\0'))) {
    return `must have ids of at most ${ID_CHARACTERS_MAX} characters`;
  }
  return { entryIndex: index, targetId };
}

/** Clients send back the dataset entries they have read, whole and with their ids. */
function entryIdIn(entryJson: string | undefined): string | null {
  if (entryJson?.includes('"datasetId"') !== true) return null;
  const entry: unknown = JSON.parse(entryJson);
  if (typeof entry !== 'object' || entry === null || !('id' in entry) || !('datasetId' in entry)) return null;
  const { id, datasetId } = entry;
  return typeof id === 'string' && id.length <= ID_CHARACTERS_MAX && id.startsWith(`${datasetId}-`) ? id : null;
}

function readEvaluation(sent: ExperimentEvaluation): ResultEvaluation | string {
  const name = sent.name ?? sent.evaluator ?? '';
  const { evaluator = name, score = null, passed = null, label = null, details = null } = sent;
  if (name === '' || [name, evaluator].some((text) => hasMoreCharactersThan(text, NAME_CHARACTERS_MAX))) {
    return `must have a name of 1 to ${NAME_CHARACTERS_MAX} characters`;
  }
  const status = wordOf(EvaluationStatus, sent.status || EvaluationStatus.PROCESSED);
  if (status === null || status === 'scheduled' || status === 'in_progress') {
    return 'must have the status processed, skipped or error';
  }
  const problem =
    nulProblem([name, evaluator, sent.label, sent.details, sent.traceId]) ??
    numberProblem({ score: sent.score, cost: sent.cost, duration: sent.duration }) ??
    negativeProblem({ cost: sent.cost, duration: sent.duration }) ??
    jsonProblem('inputs', sent.inputsJson);
  if (problem !== null) return problem;
  return {
    name,
    evaluator,
    status,
    score,
    passed,
    label,
    details,
    costUsd: sent.cost ?? null,
    durationMs: sent.duration ?? null,
    traceId: filled(sent.traceId),
    inputsJson: sent.inputsJson ?? null,
  };
}

/** Clients without tracing send an empty text, or the all-zero trace id. */
function filled(text: string | undefined): string | null {
  return text === undefined || /^0*$/.test(text) ? null : text;
}

function readTarget({ id, name, type, metadataJson }: ExperimentTarget): RunTarget | string {
  if ([name, type].some((text) => text !== undefined && hasMoreCharactersThan(text, NAME_CHARACTERS_MAX))) {
    return `must have a name and a type of at most ${NAME_CHARACTERS_MAX} characters`;
  }
  if (metadataJson !== undefined && hasMoreBytesThan(metadataJson, METADATA_BYTES_MAX)) {
    return `must have metadata of at most ${METADATA_BYTES_MAX} bytes`;
  }
  const problem = nulProblem([id, name, type]) ?? jsonProblem('metadata', metadataJson);
  if (problem !== null) return problem;
  if (metadataJson !== undefined && !/^\s*\{/.test(metadataJson)) return 'must have metadata that is an object';
  return { id, name, type, metadataJson };
}

const JSON_PROBLEMS = {
  not_json: 'valid JSON',
  too_deep: `nested at most ${DEPTH_MAX} levels`,
  too_wide: `of objects of at most ${MEMBERS_MAX} members`,
} as const;

/** Validates JSON text; over REST it was parsed before. */
function jsonProblem(name: string, text: string | undefined): string | null {
  const problem = text === undefined ? null : findJsonProblem(text, { depth: DEPTH_MAX, members: MEMBERS_MAX });
  return problem === null ? null : `must have ${name} that is ${JSON_PROBLEMS[problem]}`;
}

function numberProblem(numbers: { readonly [name: string]: number | undefined }): string | null {
  const found = Object.entries(numbers).find(([, value]) => value !== undefined && !Number.isFinite(value));
  return found === undefined ? null : `must have a ${found[0]} that is a finite number`;
}

function negativeProblem(numbers: { readonly [name: string]: number | undefined }): string | null {
  const found = Object.entries(numbers).find(([, value]) => value !== undefined && value < 0);
  return found === undefined ? null : `must have a ${found[0]} that is not negative`;
}

/** PostgreSQL cannot store U+0000. */
function nulProblem(texts: readonly (string | undefined)[]): string | null {
  return texts.some((text) => text?.includes('\0')) ? 'must not hold U+0000' : null;
}

export function resultMessage(result: ExperimentResult): MessageInitShape<typeof ExperimentResultSchema> {
  return {
    ...rowMessage(result),
    entryId: result.entryId ?? undefined,
    evaluations: result.evaluations.map((evaluation) => ({
      ...evaluationMessage(evaluation),
      traceId: evaluation.traceId ?? undefined,
    })),
  };
}

/** The results and their evaluations in lists of their own. */
export function listMessage(
  results: readonly ExperimentResult[],
): Pick<MessageInitShape<typeof ListExperimentRunResultsResponseSchema>, 'dataset' | 'evaluations'> {
  return {
    dataset: results.map(rowMessage),
    evaluations: results.flatMap((result) =>
      result.evaluations.map((evaluation) => ({ ...keyMessage(result), ...evaluationMessage(evaluation) })),
    ),
  };
}

function keyMessage({ entryIndex, targetId }: ResultKey) {
  return { index: entryIndex, targetId: targetId === '' ? undefined : targetId };
}

function rowMessage({ traceId, entryJson, predictedJson, costUsd, durationMs, error, ...key }: ExperimentResult) {
  const values = { traceId, entryJson, predictedJson, cost: costUsd, duration: durationMs, error };
  return { ...keyMessage(key), ...unsetNulls(values) };
}

/** Without the trace, which only single results show. */
function evaluationMessage({ traceId: _, status, costUsd, durationMs, ...rest }: ResultEvaluation) {
  const values = { ...rest, cost: costUsd, duration: durationMs };
  return { ...unsetNulls(values), status: EVALUATION_STATUSES[status] };
}
