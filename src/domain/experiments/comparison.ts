/** Compares two runs: entry by entry, and by their totals. */

import type { Project } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { bindFilter, invalidCursor, takeFirst } from '../management/listing.ts';
import type { ExperimentResult, ExperimentRun, ExperimentStore } from './experiment.ts';
import { resultKeyText } from './run-report.ts';
import type { RunSummary } from './run-summary.ts';
import {
  findRun,
  PAGE_MAX_BYTES,
  type PlainFigures,
  type ResultPageRequest,
  type RunReference,
  readFigures,
  readResults,
} from './runs.ts';

/** `target` null: the results of all targets, each compared with the result of the same target. */
type ComparedSide = RunReference & { readonly target: string | null };

export type ComparedRun = { readonly run: ExperimentRun; readonly summary: RunSummary };

/** Null: the run has no result of the entry. */
type ComparedEntry = { readonly base: ExperimentResult | null; readonly other: ExperimentResult | null };

type Comparison = {
  readonly base: ComparedRun;
  readonly other: ComparedRun;
  /** Counted over all results, not only over the page. */
  readonly inBoth: number;
  readonly onlyInBase: number;
  readonly onlyInOther: number;
  /** In the order of the base run, then the entries that only the other run has. */
  readonly entries: readonly ComparedEntry[];
  readonly nextCursor: string | null;
};

type Pair = { readonly base: PlainFigures | null; readonly other: PlainFigures | null };

const LIMIT_DEFAULT = 50;

type Sides = { readonly base: ComparedSide; readonly other: ComparedSide };

export type RunComparisons = ReturnType<typeof createRunComparisons>;

export function createRunComparisons({
  store,
  cursors,
}: {
  readonly store: Pick<ExperimentStore, 'find' | 'findRun' | 'figures' | 'results'>;
  readonly cursors: CursorCodec;
}) {
  return {
    /** Throws experiment_not_found, experiment_run_not_found, experiment_runs_not_comparable, invalid_cursor. */
    async compare(project: Project, sides: Sides, request: ResultPageRequest): Promise<Comparison> {
      const [base, other] = [await findRun(store, project, sides.base), await findRun(store, project, sides.other)];
      if (base.datasetId !== null && other.datasetId !== null && base.datasetId !== other.datasetId) {
        throw notComparable();
      }
      const binding = ['experiment-comparison', project.id, base.key, other.key, ...targetsOf(sides)];
      const start = openPosition(cursors, binding, request.cursor);
      const baseRead = await readFigures(store, { project, run: base, target: sides.base.target });
      const otherRead = await readFigures(store, { project, run: other, target: sides.other.target });
      // A target that is named for one side is compared with any result of the other side.
      const isByTarget = sides.base.target === null && sides.other.target === null;
      const pairs = matchFigures(baseRead.figures, otherRead.figures, isByTarget);
      const rest = pairs.slice(start);
      const room = { countMax: request.limit ?? LIMIT_DEFAULT, bytesMax: PAGE_MAX_BYTES };
      const page = takeFirst(rest, room, pairBytes);
      request.countResponseBytes(page.reduce((sum, pair) => sum + pairBytes(pair), 0));
      const isLast = page.length === rest.length;
      return {
        base: { run: base, summary: baseRead.summary },
        other: { run: other, summary: otherRead.summary },
        inBoth: pairs.filter((pair) => pair.base !== null && pair.other !== null).length,
        onlyInBase: pairs.filter((pair) => pair.other === null).length,
        onlyInOther: pairs.filter((pair) => pair.base === null).length,
        entries: await readPairs(store, { base, other }, page),
        nextCursor: isLast ? null : cursors.seal(binding, [start + page.length]),
      };
    },
  };
}

/** Matches results by dataset entry, or by entry index where one of the two has no entry id. */
function matchFigures(
  base: readonly PlainFigures[],
  other: readonly PlainFigures[],
  isByTarget: boolean,
): readonly Pair[] {
  const targetOf = ({ targetId }: PlainFigures) => (isByTarget ? targetId : '');
  const byEntry = new Map<string, PlainFigures>();
  const byIndex = new Map<string, PlainFigures>();
  for (const figure of other) {
    if (figure.entryId !== null) setFirst(byEntry, `${figure.entryId}:${targetOf(figure)}`, figure);
    setFirst(byIndex, `${figure.entryIndex}:${targetOf(figure)}`, figure);
  }
  const matched = new Set<PlainFigures>();
  const pairs = base.map((figure): Pair => {
    const found = findMatch(figure);
    if (found === undefined || matched.has(found)) return { base: figure, other: null };
    matched.add(found);
    return { base: figure, other: found };
  });
  const alone = other.filter((figure) => !matched.has(figure)).map((figure): Pair => ({ base: null, other: figure }));
  return [...pairs, ...alone];

  function findMatch(figure: PlainFigures): PlainFigures | undefined {
    const atIndex = byIndex.get(`${figure.entryIndex}:${targetOf(figure)}`);
    if (figure.entryId === null) return atIndex;
    // A result of another dataset entry does not match, even at the same index.
    return byEntry.get(`${figure.entryId}:${targetOf(figure)}`) ?? (atIndex?.entryId === null ? atIndex : undefined);
  }
}

function setFirst(map: Map<string, PlainFigures>, key: string, figure: PlainFigures): void {
  if (!map.has(key)) map.set(key, figure);
}

function targetsOf({ base, other }: Sides): readonly string[] {
  return [base.target, other.target].map(bindFilter);
}

/** The cursor is an index: in a run that still grows, later pages may repeat or skip entries. */
function openPosition(cursors: CursorCodec, binding: readonly string[], cursor: string): number {
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
  const read = async (run: ExperimentRun, figures: readonly (PlainFigures | null)[]) => {
    const results = await readResults(
      store,
      run,
      figures.filter((figure) => figure !== null),
    );
    const byKey = new Map(results.map((result) => [resultKeyText(result), result]));
    return (figure: PlainFigures | null) => (figure === null ? null : (byKey.get(resultKeyText(figure)) ?? null));
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
