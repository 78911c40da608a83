/** Experiments and their port: runs of an application over entries, with the result of each entry. */

import type { Tenant } from '../caller.ts';
import type { PageRange } from '../management/listing.ts';
import type { Resource, ResourceStore } from '../resources.ts';

/** Runs belong to an experiment. */
export type Experiment = Resource;

type RunKey = { readonly projectId: string; readonly experimentId: string; readonly id: string };

export type ExperimentRun = RunKey & {
  /** Distinguishes the run from a deleted run with the same id. */
  readonly key: string;
  readonly name: string;
  /** Null: the run uses no dataset. */
  readonly datasetId: string | null;
  readonly datasetVersion: number | null;
  /** A JSON array of RunTarget. */
  readonly targetsJson: string;
  /** A JSON array of the names of the evaluations in its results. */
  readonly evaluatorsJson: string;
  /** The expected number of entries; null: not reported. */
  readonly total: number | null;
  /** How many entries the client reported as done; null: not reported. */
  readonly progress: number | null;
  /** How many results are stored, and the bytes of results and targets. */
  readonly resultCount: number;
  readonly totalBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Null: the run is not finished. */
  readonly finishedAtMs: number | null;
};

/** A run without its long texts, as lists show it. */
export type ListedRun = Omit<ExperimentRun, 'targetsJson' | 'evaluatorsJson'>;

/** The key of the results of a run. */
export type StoredRun = Pick<ExperimentRun, 'projectId' | 'key'>;

/** A result belongs to one entry and one target; the target is empty in a run with a single one. */
export type ResultKey = { readonly entryIndex: number; readonly targetId: string };

/** The result of one entry. Null: not reported. */
export type ExperimentResult = ResultKey & {
  /** The id of the dataset entry. */
  readonly entryId: string | null;
  readonly traceId: string | null;
  readonly entryJson: string | null;
  readonly predictedJson: string | null;
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  /** In the order in which each name was first reported. */
  readonly evaluations: readonly ResultEvaluation[];
};

export type ResultEvaluation = {
  /** Unique in its result. */
  readonly name: string;
  readonly evaluator: string;
  readonly status: ResultEvaluationStatus;
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly label: string | null;
  readonly details: string | null;
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly traceId: string | null;
  readonly inputsJson: string | null;
};

export type ResultEvaluationStatus = 'processed' | 'skipped' | 'error';

/** The numbers of a result, without its texts. */
export type ResultFigures = ResultKey &
  Pick<ExperimentResult, 'entryId' | 'costUsd' | 'durationMs'> & {
    readonly hasError: boolean;
    readonly bytes: number;
    readonly scores: readonly ScoreFigures[];
  };

export type ScoreFigures = Pick<ResultEvaluation, 'name' | 'status' | 'score' | 'passed' | 'costUsd' | 'durationMs'>;

/** One report about a run. Null and absence change nothing. */
export type RunReport = {
  readonly targets: readonly RunTarget[];
  readonly total: number | null;
  readonly progress: number | null;
  readonly finishedAtMs: number | null;
  readonly results: readonly ResultReport[];
  readonly nowMs: number;
};

/** A target that results may name. The text of its metadata is kept, so that no number changes. */
export type RunTarget = {
  readonly id: string;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly metadataJson?: string | undefined;
};

/** A reported result. Null and absence change nothing. */
export type ResultReport = ExperimentResult & {
  /** The path of the result in the request, for messages about it. */
  readonly field: string;
};

export type RunLimits = {
  readonly resultsMax: number;
  readonly totalMaxBytes: number;
  readonly resultMaxBytes: number;
  readonly evaluationsMax: number;
  /** Distinct names of evaluations in a run. */
  readonly evaluatorsMax: number;
  readonly targetsMax: number;
  readonly targetsMaxBytes: number;
};

/** A part of a report that is not stored, and why. */
export type RefusedResult = { readonly field: string; readonly message: string };

export type RunReported = { readonly run: ExperimentRun; readonly refused: readonly RefusedResult[] };

/** `remove` MUST hide the runs of the experiment, too. */
export type ExperimentStore = ResourceStore<Experiment> & {
  /**
   * MUST return an existing experiment with the slug without storing; `limit_reached` when the project already holds
   * `liveMax` experiments.
   */
  init(experiment: Experiment, liveMax: number): Promise<Experiment | 'limit_reached'>;
  /** The newest first, at most `limit`. */
  list(projectId: string, limit: number): Promise<readonly Experiment[]>;
  /**
   * MUST return an existing run with the id without storing; `limit_reached` when the project already holds `runsMax`
   * runs that are not hidden, `not_found` when the experiment is deleted.
   */
  insertRun(run: ExperimentRun, runsMax: number): Promise<ExperimentRun | 'limit_reached' | 'not_found'>;
  /** Null for a run of another project or a deleted one. */
  findRun(key: RunKey): Promise<ExperimentRun | null>;
  /** The newest first. */
  listRuns(experiment: Pick<Experiment, 'projectId' | 'id'>, range: PageRange): Promise<readonly ListedRun[]>;
  /**
   * Applies a report by the rules of run-report.ts. MUST store all of it that is not refused, or nothing; MUST change
   * nothing when the report is repeated; MUST apply concurrent reports one after the other. Null when the run is unknown.
   */
  report(key: RunKey, report: RunReport, limits: RunLimits): Promise<RunReported | null>;
  /**
   * Visits the figures of all results, in ascending order of the keys. MUST leave room for other work in between, however
   * many scores the results have. Tenants take turns; rejects with the unavailable Fault when too many such reads are waiting.
   */
  figures(tenant: Tenant, key: StoredRun['key'], visit: (figures: ResultFigures) => void): Promise<void>;
  /** The results with these keys, in any order. */
  results(run: StoredRun, keys: readonly ResultKey[]): Promise<readonly ExperimentResult[]>;
  /** MUST hide the run from every later read. False when it does not exist. */
  hideRun(key: RunKey, nowMs: number): Promise<boolean>;
  /**
   * Removes at most `rowsMax` results of hidden runs of any project, and the hidden runs without results. False: nothing
   * is left to remove.
   */
  removeHidden(rowsMax: number): Promise<boolean>;
};
