/** Lists of evaluators. Their texts may be larger than memory, so they are read in steps of bounded size. */

import type { Project } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { type CursorPage, type CursorPageRequest, openCursor, takeFirst } from '../management/listing.ts';
import { byLastUpdate } from '../resources.ts';
import type { Evaluator, EvaluatorSize, EvaluatorStore } from './evaluator.ts';

type EvaluatorListDeps = {
  readonly store: Pick<EvaluatorStore, 'measure' | 'findAll'>;
  readonly cursors: CursorCodec;
};

/** Counts the bytes of a part of the answer before it is read. */
type CountBytes = (bytes: number) => void;

/** What a page holds at most, unless a single evaluator is larger: the share that one caller has of all answers. */
const PAGE_MAX_BYTES = 16 * 1024 * 1024;
const STEP_MAX_BYTES = 2 * 1024 * 1024;
const STEP_MAX = 100;
/** Rounded up: member names, ids, instants and punctuation of an evaluator in an answer. */
const FRAME_BYTES = 800;

export function createEvaluatorLists(deps: EvaluatorListDeps) {
  return {
    /** The last updated first, then by id. Throws invalid_cursor. */
    list: (project: Project, request: CursorPageRequest, countBytes: CountBytes) =>
      listPage(deps, { project, countBytes }, request),
    /** All evaluators that the project has now, in the same order and in parts; those that are deleted meanwhile are left out. */
    async open(project: Project, countBytes: CountBytes): Promise<AsyncGenerator<readonly Evaluator[], void>> {
      const sizes = await deps.store.measure(project.id);
      return readSteps(deps, { project, countBytes }, sizes.toSorted(byLastUpdate));
    },
  };
}

type ListCall = { readonly project: Project; readonly countBytes: CountBytes };

async function listPage(
  deps: EvaluatorListDeps,
  call: ListCall,
  { cursor, limit }: CursorPageRequest,
): Promise<CursorPage<Evaluator>> {
  const { cursors } = deps;
  const binding = ['evaluators', call.project.id];
  // The evaluator that the page before ended with.
  const position = openCursor({ cursors, binding }, cursor);
  const after = position && { updatedAtMs: position.createdAtMs, id: position.id };
  const sizes = (await deps.store.measure(call.project.id)).toSorted(byLastUpdate);
  const left = after === null ? sizes : sizes.filter((each) => each.id !== after.id && byLastUpdate(each, after) > 0);
  const taken = takeFirst(left, { countMax: limit ?? Number.POSITIVE_INFINITY, bytesMax: PAGE_MAX_BYTES }, bytesOf);
  const items: Evaluator[] = [];
  for await (const part of readSteps(deps, call, taken)) items.push(...part);
  const last = taken.length < left.length ? taken.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? null : cursors.seal(binding, [last.updatedAtMs, last.id]) };
}

async function* readSteps(
  { store }: EvaluatorListDeps,
  { project, countBytes }: ListCall,
  sizes: readonly EvaluatorSize[],
): AsyncGenerator<readonly Evaluator[], void> {
  for (let done = 0; done < sizes.length; ) {
    const step = takeFirst(sizes.slice(done), { countMax: STEP_MAX, bytesMax: STEP_MAX_BYTES }, bytesOf);
    countBytes(step.reduce((sum, size) => sum + bytesOf(size), 0));
    const ids = step.map(({ id }) => id);
    const found = new Map((await store.findAll(project.id, ids)).map((each) => [each.id, each]));
    yield ids.flatMap((id) => found.get(id) ?? []);
    done += step.length;
  }
}

function bytesOf({ bytes }: EvaluatorSize): number {
  return bytes + FRAME_BYTES;
}
