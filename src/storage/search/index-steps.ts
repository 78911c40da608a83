/**
 * The steps that keep the index of traces up to date, wherever it lies. A step changes the index at once; then the marks of
 * its traces are removed from the database in a transaction, which also stores the token of the step there. The index is what
 * the database says where both have the same token. If the process ends between the two, the index is one step ahead, and the
 * next step repeats that one: the database may be a backup of the time before, with other traces. Otherwise the index is made
 * anew.
 */

import { randomUUID } from 'node:crypto';
import { readIndexedTraces } from './indexed-traces.ts';
import type { SearchRunner } from './search-runner.ts';
import type { IndexedMark, IndexedTrace, TextCollector } from './trace-index.ts';

/** What the database stores once the index has a step. */
export type IndexStep = { readonly step: string; readonly marks: readonly IndexedMark[] };

/** The step is null where there was nothing to do. `isDone`: too little is left to be worth another step. */
export type StepDone = { readonly step: IndexStep | null; readonly isDone: boolean };

/** `isOwn`: the index is known to be of this database. */
type Stepped = StepDone & { readonly isOwn: boolean };

export type IndexState = {
  readonly step: string;
  /** Null: the index is new. */
  readonly previous: string | null;
  /** Of the traces that the step changed. */
  readonly sequences: readonly number[];
  /** While the index is built: up to which sequence it has all traces, and up to which it must have them. */
  readonly walkedTo: number;
  readonly walkEnd: number;
};

/** Where the index lies. */
export type IndexPlace<Text> = {
  /** Null: nothing was indexed yet. */
  readState(): Promise<IndexState | null>;
  /** Empties the index. */
  renew(state: IndexState): Promise<void>;
  /** Replaces the traces of a step, and removes those that were not found. */
  write(state: IndexState, found: ReadonlyMap<number, IndexedTrace<Text>>): Promise<void>;
  readonly newText: () => TextCollector<Text>;
  /** How much text the traces of a step may have before it ends; one trace may have more. */
  readonly texts?: { readonly lengthOf: (text: Text) => number; readonly lengthMax: number };
};

export type Known = { readonly projectNumber: number; readonly sequence: number };

/** The database that is indexed. */
export type IndexSource = {
  readonly runner: SearchRunner;
  readStep(): Promise<string | null>;
  /** The highest sequence of a trace, 0 without one. */
  findEnd(): Promise<number>;
  /** By ascending sequence. */
  list(after: number, to: number, limit: number): Promise<readonly Known[]>;
  find(sequences: readonly number[]): Promise<readonly Known[]>;
  /** About how many traces have this sequence or a lower one, expired ones included. */
  countOf(sequence: number): number;
};

export type IndexSizes = { readonly tracesPerStep: number; readonly readMaxMs: number };

/** Of the traces that a step reads. */
type Budget = { readonly endsAtMs: number; readonly textLength: number };
type ReadSoFar<Text> = {
  readonly found: Map<number, IndexedTrace<Text>>;
  readonly settled: Set<number>;
  readonly left: { textLength: number };
};

const READ_AT_ONCE = 128;

function budgetOf<Text>({ texts }: IndexPlace<Text>): Pick<Budget, 'textLength'> {
  return { textLength: texts?.lengthMax ?? Number.POSITIVE_INFINITY };
}

/** The last item, where none is left; undefined where the first one is. */
function lastBeforeFirst<Item>(items: readonly Item[], isLeft: (item: Item) => boolean): Item | undefined {
  const leftAt = items.findIndex(isLeft);
  return leftAt < 0 ? items.at(-1) : items[leftAt - 1];
}

function byProject(one: Known, other: Known): number {
  return one.projectNumber - other.projectNumber || one.sequence - other.sequence;
}

const START: Known = { projectNumber: 0, sequence: 0 };

export function createIndexSteps<Text>(
  source: IndexSource,
  place: IndexPlace<Text>,
  { tracesPerStep, readMaxMs }: IndexSizes,
) {
  const { runner } = source;
  let position = START;

  async function next(): Promise<Stepped> {
    const [state, step] = [await place.readState(), await source.readStep()];
    if (state === null || step === null || (state.step !== step && state.previous !== step))
      return { ...(await renew()), isOwn: true };
    if (state.step === step) return { ...(await goOn(state)), isOwn: true };
    const known = (await source.find(state.sequences)).toSorted(byProject);
    const budget = { ...budgetOf(place), endsAtMs: Number.POSITIVE_INFINITY };
    const { found, settled } = await read([known], budget);
    // Its traces have grown since.
    if (known.some(({ sequence }) => !settled.has(sequence))) return { ...(await renew()), isOwn: true };
    await place.write(state, found);
    return { step: { step: state.step, marks: [] }, isDone: false, isOwn: false };
  }

  async function renew(): Promise<StepDone> {
    const step = randomUUID();
    const walkEnd = await source.findEnd();
    await place.renew({ step, previous: null, sequences: [], walkedTo: 0, walkEnd });
    return { step: { step, marks: [] }, isDone: false };
  }

  /** Indexes some of the pending traces, and then some of those that the index lacks because it is new. */
  async function goOn({ step: previous, walkedTo, walkEnd }: IndexState): Promise<StepDone> {
    const segments = await listPending();
    const marked = segments.flat();
    // What the walk has still to reach needs no other step: until then the file is not searched.
    const isAhead = ({ sequence }: Known) => sequence > walkedTo && sequence <= walkEnd;
    const pending = marked.filter((each) => !isAhead(each));
    const limit = tracesPerStep - pending.length;
    const walked = walkedTo < walkEnd ? await source.list(walkedTo, walkEnd, limit) : [];
    const listed = [...pending, ...walked];
    const budget = { ...budgetOf(place), endsAtMs: runner.nowMs() + readMaxMs };
    const marks = segments.map((segment) => segment.filter((each) => !isAhead(each)));
    const { found, settled } = await read([...marks, walked], budget);
    const isSettled = ({ sequence }: Known) => settled.has(sequence);
    const isCut = !listed.every(isSettled);
    // Traces that change all the time must not keep others waiting.
    position = lastBeforeFirst(marked, (each) => !isAhead(each) && !isSettled(each)) ?? START;
    const isWalked = !isCut && walked.length < limit;
    const isDone = isWalked && marked.length < tracesPerStep;
    if (listed.length === 0 && walkedTo === walkEnd) return { step: null, isDone };
    const step = randomUUID();
    const reached = lastBeforeFirst(walked, (each) => !isSettled(each))?.sequence ?? walkedTo;
    const sequences = [...settled];
    await place.write({ step, previous, sequences, walkedTo: isWalked ? walkEnd : reached, walkEnd }, found);
    return { step: { step, marks: [...pending.filter(isSettled), ...marked.filter(isAhead)] }, isDone };
  }

  /** Those behind the position, and then those before it, each by project and sequence. */
  async function listPending(): Promise<readonly (readonly IndexedMark[])[]> {
    const list = async ({ projectNumber, sequence: traceSequence }: Known, limit: number) =>
      await runner.runQuery(runner.queries.listAllPending, { projectNumber, traceSequence, limit });
    const behind = await list(position, tracesPerStep);
    const left = tracesPerStep - behind.length;
    const known = new Set(behind.map(({ sequence }) => sequence));
    const before = left > 0 && position !== START ? await list(START, left) : [];
    return [behind, before.filter(({ sequence }) => !known.has(sequence))];
  }

  /**
   * Reads of each list at least its first trace. Lists are in an order in which the sequences of a project ascend. `settled` are
   * the traces that were read, or are not there any more.
   */
  async function read(lists: readonly (readonly Known[])[], budget: Budget) {
    const found = new Map<number, IndexedTrace<Text>>();
    const settled = new Set<number>();
    const left = { ...budget };
    for (const list of lists) {
      for (let start = 0; start < list.length; start += READ_AT_ONCE) {
        if (start > 0 && runner.nowMs() >= left.endsAtMs) break;
        if (!(await readSome(list.slice(start, start + READ_AT_ONCE), { found, settled, left }))) break;
      }
    }
    return { found, settled };
  }

  /** False: it ended because of the length of the texts. */
  async function readSome(some: readonly Known[], { found, settled, left }: ReadSoFar<Text>): Promise<boolean> {
    for (const [projectNumber, of] of Map.groupBy(some, (each) => each.projectNumber)) {
      const sequences = of.map(({ sequence }) => sequence);
      for await (const trace of readIndexedTraces(runner, projectNumber, { sequences, newText: place.newText })) {
        found.set(trace.sequence, trace);
        left.textLength -= place.texts?.lengthOf(trace.text) ?? 0;
        if (left.textLength > 0) continue;
        for (const sequence of sequences) if (sequence <= trace.sequence) settled.add(sequence);
        return false;
      }
      for (const sequence of sequences) settled.add(sequence);
    }
    return true;
  }

  return {
    /** Indexes some. */
    next,
  };
}
