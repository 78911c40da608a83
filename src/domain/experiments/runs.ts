/** Runs of experiments: creating them, reporting results, reading them back. */

import { type Project, tenantOf } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import {
  type CursorPage,
  type CursorPageRequest,
  invalidCursor,
  limitOf,
  readCursorPage,
  takeFirst,
} from '../management/listing.ts';
import { RECEIVED_CHARACTERS_MAX } from '../reasons.ts';
import { maskedHead } from '../token-mask.ts';
import { RESPONSE_MAX_BYTES } from '../traces/trace-size.ts';
import type {
  ExperimentResult,
  ExperimentRun,
  ExperimentStore,
  ListedRun,
  RefusedResult,
  ResultFigures,
  ResultKey,
  ResultReport,
  RunLimits,
  RunReport,
  RunReported,
} from './experiment.ts';
import { experimentRules } from './experiments.ts';
import { reportedBytes, resultKeyText } from './run-report.ts';
import { createRunSums, type RunSummary } from './run-summary.ts';

type RunDeps = {
  readonly store: ExperimentStore;
  readonly datasets: Pick<Datasets, 'get'>;
  readonly random: RandomBytes;
  readonly cursors: CursorCodec;
};

/** Null: not sent. */
type RunDraft = {
  readonly id: string | null;
  readonly name: string | null;
  readonly dataset: string | null;
  readonly datasetVersion: number | null;
  readonly total: number | null;
};

/** A report, with the facts needed to create the run. */
export type RunLog = Omit<RunReport, 'nowMs'> & { readonly name: string | null; readonly createdAtMs: number | null };

type At = { readonly nowMs: number };

/** `experiment` is an id or a slug. */
export type RunReference = { readonly experiment: string; readonly id: string };

export type ResultPageRequest = CursorPageRequest & { readonly countResponseBytes: (bytes: number) => void };

type RunPage = {
  readonly run: ExperimentRun;
  readonly summary: RunSummary;
  readonly results: CursorPage<ExperimentResult>;
};

/** Runs that a project may hold. */
const RUNS_MAX = 10_000;
const LIMITS: RunLimits = {
  resultsMax: 10_000,
  totalMaxBytes: 64 * 1024 * 1024,
  resultMaxBytes: 256 * 1024,
  evaluationsMax: 100,
  evaluatorsMax: 200,
  targetsMax: 100,
  targetsMaxBytes: 64 * 1024,
};
/** Results read, and results of a report stored, at once: with more, other work of the store would wait long. */
const READ_AT_ONCE = { countMax: 200, bytesMax: 2 * 1024 * 1024 };
const STORED_AT_ONCE = { countMax: 25, bytesMax: 2 * 1024 * 1024 };
/** Of the results in one response. */
export const PAGE_MAX_BYTES = RESPONSE_MAX_BYTES;

export type ExperimentRuns = ReturnType<typeof createExperimentRuns>;

export function createExperimentRuns({ store, datasets, random, cursors }: RunDeps) {
  async function insert(run: ExperimentRun): Promise<ExperimentRun> {
    const outcome = await store.insertRun(run, RUNS_MAX);
    if (outcome === 'limit_reached') throw limitFault();
    if (outcome === 'not_found') throw experimentRules.notFound();
    return outcome;
  }

  return {
    /**
     * Returns an existing run with that id unchanged. Throws experiment_not_found, dataset_not_found,
     * dataset_version_not_found, experiment_run_limit_reached.
     */
    async create(project: Project, experiment: string, { nowMs, ...draft }: RunDraft & At): Promise<ExperimentRun> {
      const { id: experimentId, name } = await experimentRules.find(store, project, experiment);
      const id = draft.id ?? newId('run', random);
      const known = await store.findRun({ projectId: project.id, experimentId, id });
      if (known !== null) return known;
      const content = draft.dataset === null ? null : await datasets.get(project, draft.dataset, draft.datasetVersion);
      return await insert({
        ...emptyRun(project, { experimentId, id, name: draft.name ?? name }, random),
        datasetId: content?.dataset.id ?? null,
        datasetVersion: content === null ? null : (draft.datasetVersion ?? content.dataset.version),
        total: draft.total ?? content?.entries.length ?? null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      });
    },
    /** Adds results to a run, and creates it if needed. Throws experiment_not_found, experiment_run_limit_reached. */
    async log(project: Project, { experiment, id }: RunReference, reported: RunLog & At): Promise<RunReported> {
      const { nowMs, name, createdAtMs, ...log } = reported;
      const { id: experimentId, name: experimentName } = await experimentRules.find(store, project, experiment);
      const key = { projectId: project.id, experimentId, id };
      const known = await store.findRun(key);
      const run =
        known ??
        (await insert({
          ...emptyRun(project, { experimentId, id, name: name ?? experimentName }, random),
          createdAtMs: Math.min(createdAtMs ?? nowMs, nowMs),
          updatedAtMs: nowMs,
        }));
      const refused: RefusedResult[] = [];
      let last = run;
      // Only the last batch finishes the run, so that a finished run is never incomplete.
      for (const part of splitLog(log)) {
        const results = part.results.map((result) => withEntryId(run, result));
        const stored = await store.report(key, { ...part, results, nowMs }, LIMITS);
        if (stored === null) throw runNotFound(id);
        refused.push(...stored.refused);
        last = stored.run;
      }
      const positions = new Map(log.results.map(({ field }, index) => [field, index]));
      const positionOf = ({ field }: RefusedResult) => positions.get(field) ?? log.results.length;
      return { run: last, refused: refused.sort((one, other) => positionOf(one) - positionOf(other)) };
    },
    /** Leaves a finished run unchanged. Throws experiment_not_found, experiment_run_not_found. */
    async finish(project: Project, name: RunReference, nowMs: number): Promise<ExperimentRun> {
      const run = await findRun(store, project, name);
      if (run.finishedAtMs !== null) return run;
      const ended = { targets: [], results: [], total: null, progress: null, finishedAtMs: nowMs, nowMs };
      const reported = await store.report(run, ended, LIMITS);
      if (reported === null) throw runNotFound(run.id);
      return reported.run;
    },
    /** The newest first. Throws experiment_not_found, invalid_cursor. */
    async list(project: Project, idOrSlug: string, request: CursorPageRequest): Promise<CursorPage<ListedRun>> {
      const experiment = await experimentRules.find(store, project, idOrSlug);
      const binding = ['experiment-runs', project.id, experiment.id];
      return await readCursorPage({ cursors, binding, positionOf: (run: ListedRun) => run }, request, (range) =>
        store.listRuns(experiment, range),
      );
    },
    /** Returns the run with a page of its results. Throws experiment_not_found, experiment_run_not_found, invalid_cursor. */
    async get(project: Project, name: RunReference, request: ResultPageRequest): Promise<RunPage> {
      const run = await findRun(store, project, name);
      const { figures, summary } = await readFigures(store, { project, run, target: null });
      const binding = ['experiment-results', project.id, run.key];
      const position = request.cursor === '' ? null : cursors.open(binding, request.cursor);
      if (request.cursor !== '' && position === null) throw invalidCursor();
      const start = position === null ? 0 : figures.findIndex((figure) => isAfter(figure, position));
      const rest = start < 0 ? [] : figures.slice(start);
      const page = takeFirst(rest, { countMax: limitOf(request), bytesMax: PAGE_MAX_BYTES }, bytesOf);
      request.countResponseBytes(page.reduce((sum, { bytes }) => sum + bytes, 0));
      const last = page.at(-1);
      const isLast = last === undefined || page.length === rest.length;
      const nextCursor = isLast ? null : cursors.seal(binding, [last.entryIndex, last.targetId]);
      const items = await readResults(store, run, page);
      return { run, summary, results: { items, nextCursor } };
    },
    /** Throws experiment_not_found, experiment_run_not_found. */
    async remove(project: Project, name: RunReference, nowMs: number): Promise<void> {
      if (!(await store.hideRun(await findRun(store, project, name), nowMs))) throw runNotFound(name.id);
    },
  };
}

export async function findRun(
  store: Pick<ExperimentStore, 'find' | 'findRun'>,
  project: Project,
  { experiment, id }: RunReference,
): Promise<ExperimentRun> {
  const { id: experimentId } = await experimentRules.find(store, project, experiment);
  const run = id.includes('\0') ? null : await store.findRun({ projectId: project.id, experimentId, id });
  if (run === null) throw runNotFound(id);
  return run;
}

/** The figures of a result without its scores, of which a run may have very many. */
export type PlainFigures = Omit<ResultFigures, 'scores'>;

type FiguresOf = { readonly project: Project; readonly run: ExperimentRun; readonly target: string | null };

/** Reads the figures of all results of a target, or of all targets. */
export async function readFigures(
  store: Pick<ExperimentStore, 'figures'>,
  { project, run, target }: FiguresOf,
): Promise<{ readonly figures: readonly PlainFigures[]; readonly summary: RunSummary }> {
  const figures: PlainFigures[] = [];
  const sums = createRunSums();
  await store.figures(tenantOf(project), run.key, (each) => {
    if (target !== null && each.targetId !== target) return;
    sums.add(each);
    const { scores: _, ...plain } = each;
    figures.push(plain);
  });
  return { figures, summary: sums.summary() };
}

/** The named results in full, in the given order, read in parts; results that were removed meanwhile are left out. */
export async function readResults(
  store: Pick<ExperimentStore, 'results'>,
  run: ExperimentRun,
  named: readonly NamedResult[],
): Promise<readonly ExperimentResult[]> {
  const results: ExperimentResult[] = [];
  for (let done = 0; done < named.length; ) {
    const some = takeFirst(named.slice(done), READ_AT_ONCE, bytesOf);
    done += some.length;
    const found = new Map((await store.results(run, some)).map((result) => [resultKeyText(result), result]));
    results.push(...some.flatMap((figure) => found.get(resultKeyText(figure)) ?? []));
  }
  return results;
}

type NamedResult = ResultKey & Pick<ResultFigures, 'bytes'>;

function bytesOf({ bytes }: NamedResult): number {
  return bytes;
}

function isAfter({ entryIndex, targetId }: ResultKey, [afterIndex = 0, afterTarget = '']: readonly unknown[]) {
  if (entryIndex !== afterIndex) return entryIndex > Number(afterIndex);
  // As the store orders them: by UTF-8, which differs from JavaScript's order where characters take two code units.
  return Buffer.compare(Buffer.from(targetId), Buffer.from(String(afterTarget))) > 0;
}

type RunHead = Pick<ExperimentRun, 'experimentId' | 'id' | 'name'>;

function emptyRun(project: Project, head: RunHead, random: RandomBytes) {
  return {
    ...head,
    projectId: project.id,
    key: newId('runkey', random),
    datasetId: null,
    datasetVersion: null,
    targetsJson: '[]',
    evaluatorsJson: '[]',
    total: null,
    progress: null,
    resultCount: 0,
    totalBytes: 0,
    finishedAtMs: null,
  };
}

/** In a run of a dataset, the index of a result identifies its entry. */
function withEntryId({ datasetId }: ExperimentRun, result: ResultReport): ResultReport {
  if (datasetId === null || result.entryId !== null) return result;
  return { ...result, entryId: `${datasetId}-${result.entryIndex}` };
}

function splitLog(log: Omit<RunReport, 'nowMs'>): readonly Omit<RunReport, 'nowMs'>[] {
  const { finishedAtMs } = log;
  // What is reported of one result is applied together, so that the result is read and written once.
  const results = [...Map.groupBy(log.results, resultKeyText).values()];
  const parts: Omit<RunReport, 'nowMs'>[] = [];
  let done = 0;
  do {
    const some = takeFirst(results.slice(done), STORED_AT_ONCE, (of) =>
      of.reduce((sum, each) => sum + reportedBytes(each), 0),
    );
    const targets = done === 0 ? log.targets : [];
    done += some.length;
    parts.push({ ...log, targets, results: some.flat(), finishedAtMs: done < results.length ? null : finishedAtMs });
  } while (done < results.length);
  return parts;
}

/** Names the id, because a comparison asks for two. */
function runNotFound(id: string): Fault {
  const sent = maskedHead(id, RECEIVED_CHARACTERS_MAX);
  return new Fault('experiment_run_not_found', `There is no run "${sent}" of the experiment.`);
}

function limitFault(): Fault {
  const message = `The project already holds ${RUNS_MAX} runs of experiments; delete some first.`;
  return new Fault('experiment_run_limit_reached', message);
}
