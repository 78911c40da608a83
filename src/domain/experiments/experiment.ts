/** Experiments as rules and storage see them: runs of an application over entries, with what came of each. */

/** What a request names its runs by. */
export type Experiment = {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** Unique among those of the project that are not deleted. */
  readonly slug: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type RunKey = { readonly projectId: string; readonly experimentId: string; readonly id: string };

export type ExperimentRun = RunKey & {
  /** Tells it from one of the same id that is deleted. */
  readonly key: string;
  readonly name: string;
  /** Null: it belongs to no dataset. */
  readonly datasetId: string | null;
  readonly datasetVersion: number | null;
  /** A JSON array of what results may name as their target. */
  readonly targetsJson: string;
  /** A JSON array of the names that evaluations of its results have. */
  readonly evaluatorsJson: string;
  /** How many entries there will be; null: nobody said. */
  readonly total: number | null;
  /** How many were done, as the one who runs them said; null: nobody did. */
  readonly progress: number | null;
  /** How many results are stored, and the bytes of them and of the targets. */
  readonly resultCount: number;
  readonly totalBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Null: it goes on. */
  readonly finishedAtMs: number | null;
};

/** As lists show it: without what may be long. */
export type ListedRun = Omit<ExperimentRun, 'targetsJson' | 'evaluatorsJson'>;

/** What the results of a run are found by. */
export type StoredRun = Pick<ExperimentRun, 'projectId' | 'key'>;

/** Results are told apart by the place of their entry, and by what was tried on it: empty where that is one thing. */
export type ResultKey = { readonly entryIndex: number; readonly targetId: string };

/** What came of one entry. Null: nobody said. */
export type ExperimentResult = ResultKey & {
  /** Of the entry of a dataset. */
  readonly entryId: string | null;
  readonly traceId: string | null;
  readonly entryJson: string | null;
  readonly predictedJson: string | null;
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  /** In the order in which they came first. */
  readonly evaluations: readonly ResultEvaluation[];
};

export type ResultEvaluation = {
  /** Unique in its result. */
  readonly name: string;
  readonly evaluator: string;
  readonly status: EvaluationWord;
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly label: string | null;
  readonly details: string | null;
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly traceId: string | null;
  readonly inputsJson: string | null;
};

export type EvaluationWord = 'processed' | 'skipped' | 'error';

/** What sums and lists need of a result, without its texts. */
export type ResultFigures = ResultKey &
  Pick<ExperimentResult, 'entryId' | 'costUsd' | 'durationMs'> & {
    readonly hasError: boolean;
    readonly bytes: number;
    readonly scores: readonly ScoreFigures[];
  };

export type ScoreFigures = Pick<ResultEvaluation, 'name' | 'status' | 'score' | 'passed' | 'costUsd' | 'durationMs'>;

/** What is told of a run at once. */
export type RunReport = {
  readonly targets: readonly RunTarget[];
  readonly total: number | null;
  readonly progress: number | null;
  readonly finishedAtMs: number | null;
  readonly results: readonly ResultReport[];
  readonly nowMs: number;
};

export type RunTarget = { readonly id: string; readonly targetJson: string };

/** What is told of one result. Null and absence say nothing new. */
export type ResultReport = ExperimentResult & {
  /** How a reader of the request finds what of it is refused. */
  readonly field: string;
};

export type RunLimits = {
  readonly resultsMax: number;
  readonly totalMaxBytes: number;
  readonly resultMaxBytes: number;
  readonly evaluationsMax: number;
  /** Different names of evaluations in a run. */
  readonly evaluatorsMax: number;
  readonly targetsMax: number;
  readonly targetsMaxBytes: number;
};

/** Why something of a report is not stored. */
export type RefusedResult = { readonly field: string; readonly message: string };

export type RunReported = { readonly run: ExperimentRun; readonly refused: readonly RefusedResult[] };

/** `after` null: from the first on. */
export type RunRange = {
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number;
};
export type FigureRange = { readonly after: ResultKey | null; readonly limit: number };

export type ExperimentStore = {
  /**
   * MUST answer the experiment that has the slug already, and store nothing then; `limit_reached` when the project
   * already holds `liveMax` experiments.
   */
  init(experiment: Experiment, liveMax: number): Promise<Experiment | 'limit_reached'>;
  /** By id first, then by slug, case-sensitive; null for another project's and for one that is deleted. */
  find(projectId: string, idOrSlug: string): Promise<Experiment | null>;
  /** The newest first, `limit` at most. */
  list(projectId: string, limit: number): Promise<readonly Experiment[]>;
  /** MUST hide the experiment and its runs from every read from now on, and free its slug. False when there is none. */
  hide(projectId: string, id: string, nowMs: number): Promise<boolean>;
  /**
   * MUST answer the run that has the id already, and store nothing then; `limit_reached` when the project already holds
   * `runsMax` runs that are not hidden, `not_found` when the experiment is deleted.
   */
  insertRun(run: ExperimentRun, runsMax: number): Promise<ExperimentRun | 'limit_reached' | 'not_found'>;
  /** Null for another project's and for one that is deleted. */
  findRun(key: RunKey): Promise<ExperimentRun | null>;
  /** The newest first. */
  listRuns(experiment: Pick<Experiment, 'projectId' | 'id'>, range: RunRange): Promise<readonly ListedRun[]>;
  /**
   * Adds what is told, as run-report.ts says. MUST store all of it that is not refused or nothing, MUST change nothing
   * when it is told again, and MUST keep apart what several tell at once. Null when there is no such run.
   */
  report(key: RunKey, report: RunReport, limits: RunLimits): Promise<RunReported | null>;
  /** In the order of their keys. */
  figures(run: StoredRun, range: FigureRange): Promise<readonly ResultFigures[]>;
  /** Those of the keys, in any order, and no other. */
  results(run: StoredRun, keys: readonly ResultKey[]): Promise<readonly ExperimentResult[]>;
  /** MUST hide the run from every read from now on. False when there is none. */
  hideRun(key: RunKey, nowMs: number): Promise<boolean>;
  /**
   * Removes at most `rowsMax` results of hidden runs of any project, and the runs that have none left. False: nothing is
   * left to remove.
   */
  sweep(rowsMax: number): Promise<boolean>;
};
