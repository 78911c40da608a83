/** Two runs side by side: by entry, and in sum. */

import type { Project } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { invalidCursor } from '../listing.ts';
import type { ExperimentResult, ExperimentRun, ExperimentStore, ResultFigures } from './experiment.ts';
import { keyText } from './run-report.ts';
import { type RunSummary, summarise } from './run-summary.ts';
import { cutToBytes, findRun, type ReadWish, type RunName, readFigures, readResults } from './runs.ts';

/** One side. `target` null: results of all targets, each compared with that of the same target. */
export type SideName = RunName & { readonly target: string | null };

export type ComparedRun = { readonly run: ExperimentRun; readonly summary: RunSummary };

/** Null: the run has no result of the entry. */
export type ComparedEntry = { readonly base: ExperimentResult | null; readonly other: ExperimentResult | null };

export type Comparison = {
  readonly base: ComparedRun;
  readonly other: ComparedRun;
  /** Of all results, whatever page is read. */
  readonly inBoth: number;
  readonly onlyInBase: number;
  readonly onlyInOther: number;
  /** In the order of the base, then what is only in the other run. */
  readonly entries: readonly ComparedEntry[];
  readonly nextCursor: string | null;
};

export type Comparing = {
  /** Throws experiment_not_found, experiment_run_not_found, experiment_runs_not_comparable, invalid_cursor. */
  compare(
    project: Project,
    sides: { readonly base: SideName; readonly other: SideName },
    wish: ReadWish,
  ): Promise<Comparison>;
};

type Pair = { readonly base: ResultFigures | null; readonly other: ResultFigures | null };

const LIMIT_DEFAULT = 50;

export function createComparing({
  store,
  cursors,
}: {
  readonly store: Pick<ExperimentStore, 'find' | 'findRun' | 'figures' | 'results'>;
  readonly cursors: CursorCodec;
}): Comparing {
  return {
    async compare(project, sides, wish) {
      const [base, other] = [await findRun(store, project, sides.base), await findRun(store, project, sides.other)];
      if (base.datasetId !== null && other.datasetId !== null && base.datasetId !== other.datasetId) {
        throw notComparable();
      }
      const binding = ['experiment-comparison', project.id, base.key, other.key, ...targetsOf(sides)];
      const start = openPlace(cursors, binding, wish.cursor);
      const baseFigures = ofTarget(await readFigures(store, base), sides.base.target);
      const otherFigures = ofTarget(await readFigures(store, other), sides.other.target);
      // Whoever names a target of one side means to compare it with what stands on the other.
      const isByTarget = sides.base.target === null && sides.other.target === null;
      const pairs = matchFigures(baseFigures, otherFigures, isByTarget);
      const rest = pairs.slice(start);
      const page = cutToBytes(rest, wish.limit ?? LIMIT_DEFAULT, pairBytes);
      wish.countAnswer(page.reduce((sum, pair) => sum + pairBytes(pair), 0));
      const isLast = page.length === rest.length;
      return {
        base: { run: base, summary: summarise(baseFigures) },
        other: { run: other, summary: summarise(otherFigures) },
        inBoth: pairs.filter((pair) => pair.base !== null && pair.other !== null).length,
        onlyInBase: pairs.filter((pair) => pair.other === null).length,
        onlyInOther: pairs.filter((pair) => pair.base === null).length,
        entries: await readPairs(store, { base, other }, page),
        nextCursor: isLast ? null : cursors.seal(binding, [start + page.length]),
      };
    },
  };
}

/** By the entry of a dataset; by its place where one of the two does not say of which entry it is. */
export function matchFigures(
  base: readonly ResultFigures[],
  other: readonly ResultFigures[],
  isByTarget: boolean,
): readonly Pair[] {
  const targetOf = ({ targetId }: ResultFigures) => (isByTarget ? targetId : '');
  const byEntry = new Map<string, ResultFigures>();
  const byIndex = new Map<string, ResultFigures>();
  for (const figure of other) {
    if (figure.entryId !== null) setFirst(byEntry, `${figure.entryId}:${targetOf(figure)}`, figure);
    setFirst(byIndex, `${figure.entryIndex}:${targetOf(figure)}`, figure);
  }
  const matched = new Set<ResultFigures>();
  const pairs = base.map((figure): Pair => {
    const found = findMatch(figure);
    if (found === undefined || matched.has(found)) return { base: figure, other: null };
    matched.add(found);
    return { base: figure, other: found };
  });
  const alone = other.filter((figure) => !matched.has(figure)).map((figure): Pair => ({ base: null, other: figure }));
  return [...pairs, ...alone];

  function findMatch(figure: ResultFigures): ResultFigures | undefined {
    const atIndex = byIndex.get(`${figure.entryIndex}:${targetOf(figure)}`);
    if (figure.entryId === null) return atIndex;
    // Of another entry of a dataset it is another result, whatever its place.
    return byEntry.get(`${figure.entryId}:${targetOf(figure)}`) ?? (atIndex?.entryId === null ? atIndex : undefined);
  }
}

function setFirst(map: Map<string, ResultFigures>, key: string, figure: ResultFigures): void {
  if (!map.has(key)) map.set(key, figure);
}

function ofTarget(figures: readonly ResultFigures[], target: string | null): readonly ResultFigures[] {
  return target === null ? figures : figures.filter(({ targetId }) => targetId === target);
}

function targetsOf({ base, other }: { readonly base: SideName; readonly other: SideName }): readonly string[] {
  return [base, other].map(({ target }) => (target === null ? '' : `=${target}`));
}

/** What is added meanwhile may stand twice or be left out on the pages of a run that goes on. */
function openPlace(cursors: CursorCodec, binding: readonly string[], cursor: string): number {
  if (cursor === '') return 0;
  const [start] = cursors.open(binding, cursor) ?? [];
  if (typeof start !== 'number') throw invalidCursor();
  return start;
}

function pairBytes({ base, other }: Pair): number {
  return (base?.bytes ?? 0) + (other?.bytes ?? 0);
}

type Runs = { readonly base: ExperimentRun; readonly other: ExperimentRun };

async function readPairs(
  store: Pick<ExperimentStore, 'results'>,
  { base, other }: Runs,
  pairs: readonly Pair[],
): Promise<readonly ComparedEntry[]> {
  const read = async (run: ExperimentRun, figures: readonly (ResultFigures | null)[]) => {
    const results = await readResults(
      store,
      run,
      figures.filter((figure) => figure !== null),
    );
    const byKey = new Map(results.map((result) => [keyText(result), result]));
    return (figure: ResultFigures | null) => (figure === null ? null : (byKey.get(keyText(figure)) ?? null));
  };
  const baseOf = await read(
    base,
    pairs.map((pair) => pair.base),
  );
  const otherOf = await read(
    other,
    pairs.map((pair) => pair.other),
  );
  return pairs.map((pair) => ({ base: baseOf(pair.base), other: otherOf(pair.other) }));
}

function notComparable(): Fault {
  return new Fault('experiment_runs_not_comparable', 'The runs belong to different datasets.');
}
