/** The datasets of a project, on which experiments run. */

import { createTenantSemaphore, type TenantSemaphoreOptions } from '../../scheduling/tenant-semaphore.ts';
import { type Project, tenantOf } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault, unavailableFault } from '../fault.ts';
import { refuseProblems, typeReason } from '../reasons.ts';
import { nameProblems, normalizeName, resourceRules, retryStale } from '../resources.ts';
import type { SearchCall } from '../traces/search/search-call.ts';
import type { SearchConditions, TraceSearches } from '../traces/search/trace-search.ts';
import type { SearchTotal } from '../traces/search/trace-search-store.ts';
import type { TraceView } from '../traces/traces.ts';
import type { NotificationKey } from '../triggers/trigger-store.ts';
import type { Dataset, DatasetStore, DatasetVersion } from './dataset.ts';
import { ENTRIES_MAX, type EntriesDraft, type Pauses, TOTAL_MAX_BYTES, validateEntries } from './entries.ts';

type DatasetDeps = Pauses & {
  readonly store: DatasetStore;
  readonly random: RandomBytes;
  readonly searches: Pick<TraceSearches, 'search'>;
};

type DatasetDraft = EntriesDraft & { readonly name: string | null };

export type NumberedEntry = { readonly id: string; readonly entryJson: string; readonly createdAtMs: number };

type DatasetContent = { readonly dataset: Dataset; readonly entries: readonly NumberedEntry[] };

/** The newest traces first; `limit` entries at most. */
type TracesDraft = {
  readonly search: SearchConditions;
  readonly limit: number;
  readonly call: SearchCall;
  /** The notification of a trigger that asked for the entries, which ends with them. */
  readonly asked?: NotificationKey | undefined;
};

type TracesAdded = {
  readonly dataset: Dataset;
  readonly added: number;
  /** Traces of the search without an entry; a lower bound where the search did not count to its end. */
  readonly leftOut: number;
  readonly isLeftOutExact: boolean;
};

const rules = resourceRules({ noun: 'dataset', liveMax: 1000, atLimit: 'delete one first' });
const APPEND_ATTEMPTS_MAX = 20;
const RETRY_AFTER_SECONDS = 1;
/** One at a time: several at once take as long together, and hold the memory of all. */
const READING: TenantSemaphoreOptions = { permitsMax: 1, waitingMax: 256 };

export type Datasets = ReturnType<typeof createDatasets>;

export function createDatasets(deps: DatasetDeps) {
  const { store } = deps;
  const semaphore = createTenantSemaphore(READING);
  async function readEntries(project: Project, draft: EntriesDraft) {
    const request = { tenant: tenantOf(project), isUrgent: false };
    if ((await semaphore.acquire(request)) !== 'acquired') {
      throw unavailableFault('Too many entries of datasets are being read; try again.', RETRY_AFTER_SECONDS);
    }
    try {
      return await validateEntries(draft, deps);
    } finally {
      semaphore.release(request);
    }
  }
  return {
    /** Throws validation_error, dataset_limit_reached, dataset_too_large. */
    async create(project: Project, draft: DatasetDraft, nowMs: number): Promise<Dataset> {
      const { entries, problems } = await readEntries(project, draft);
      refuseProblems([...nameProblems(draft.name), ...problems]);
      const name = normalizeName(draft.name ?? '');
      const { dataset: content, next } = addVersion({ ...EMPTY, name }, entries, nowMs);
      return await rules.create(deps, { project, content, nowMs }, (dataset) =>
        store.insert(dataset, next, rules.liveMax),
      );
    },
    /** Adds a version with the entries. Throws validation_error, dataset_not_found, dataset_too_large. */
    async append(project: Project, idOrSlug: string, { nowMs, ...draft }: EntriesDraft & { readonly nowMs: number }) {
      const { entries, problems } = await readEntries(project, draft);
      refuseProblems(entries.length + problems.length === 0 ? [typeReason('entries', 'array', 'undefined')] : problems);
      return (await appendWhatFits(deps, { project, idOrSlug, nowMs }, () => entries)).dataset;
    },
    /** Adds a version with as many traces of a search as fit. Throws validation_error, dataset_not_found. */
    async appendTraces(project: Project, idOrSlug: string, draft: TracesDraft): Promise<TracesAdded> {
      const { search, limit, call, asked } = draft;
      const capacity = capacityOf(await rules.find(store, project, idOrSlug));
      const entriesMax = Math.min(capacity.entriesMax, limit);
      const { entries, found } = await readTraceEntries(deps, { ...capacity, entriesMax }, { search, call });
      const at = { project, idOrSlug, nowMs: call.nowMs, asked };
      const { dataset, added } = await appendWhatFits(deps, at, (now) => cutToCapacity(entries, capacityOf(now)));
      return { dataset, added, leftOut: Math.max(found.count - added, 0), isLeftOutExact: found.isExact };
    },
    /** The entries up to a version; null: all. Throws dataset_not_found, dataset_version_not_found. */
    async get(project: Project, idOrSlug: string, version: number | null): Promise<DatasetContent> {
      const dataset = await rules.find(store, project, idOrSlug);
      if (version !== null && (version < 1 || version > dataset.version)) throw versionFault(dataset);
      const versions = await store.versions(dataset, version ?? dataset.version);
      // Even a dataset without entries has a version.
      if (versions.length === 0) throw rules.notFound();
      return { dataset, entries: versions.flatMap((each) => numberEntries(dataset, each)) };
    },
    /** The newest first. */
    list: (project: Project) => store.list(project.id, rules.liveMax),
    /** Throws dataset_not_found. */
    remove: (project: Project, idOrSlug: string, nowMs: number) => rules.remove(store, project, { idOrSlug, nowMs }),
  };
}

type Appending = {
  readonly project: Project;
  readonly idOrSlug: string;
  readonly nowMs: number;
  readonly asked?: NotificationKey | undefined;
};

/** Retries when another request added a version meanwhile, and then computes again which entries fit. */
async function appendWhatFits(
  deps: DatasetDeps,
  { project, idOrSlug, nowMs, asked }: Appending,
  entriesFor: (dataset: Dataset) => readonly string[],
): Promise<{ readonly dataset: Dataset; readonly added: number }> {
  const attempt = async () => {
    const known = await rules.find(deps.store, project, idOrSlug);
    const entries = entriesFor(known);
    if (entries.length === 0) return { dataset: known, added: 0 };
    const { dataset, next } = addVersion(known, entries, nowMs);
    const outcome = await deps.store.append(dataset, next, asked);
    return outcome === 'stored' ? { dataset, added: entries.length } : outcome;
  };
  return await retryStale('Others keep adding to this dataset; try again.', attempt, APPEND_ATTEMPTS_MAX);
}

function capacityOf({ entryCount, totalBytes }: Dataset): Capacity {
  return { entriesMax: ENTRIES_MAX - entryCount, bytesMax: TOTAL_MAX_BYTES - totalBytes };
}

/** Keeps the entries that fit, in order; an entry that is too large does not stop later ones. */
export function cutToCapacity(entries: readonly string[], { entriesMax, bytesMax }: Capacity): readonly string[] {
  let leftBytes = bytesMax;
  return entries.slice(0, entriesMax).filter((entry) => {
    const bytes = Buffer.byteLength(entry) + 1;
    if (bytes > leftBytes) return false;
    leftBytes -= bytes;
    return true;
  });
}

type Size = Pick<Dataset, 'version' | 'entryCount' | 'totalBytes'>;

const EMPTY: Size = { version: 0, entryCount: 0, totalBytes: 0 };

/** Adds a version to the dataset. Throws dataset_too_large. */
function addVersion<D extends Size>(dataset: D, entries: readonly string[], nowMs: number) {
  const entryLines = entries.join('\n');
  const grown = {
    ...dataset,
    version: dataset.version + 1,
    entryCount: dataset.entryCount + entries.length,
    totalBytes: dataset.totalBytes + Buffer.byteLength(entryLines),
    updatedAtMs: nowMs,
  };
  if (grown.entryCount > ENTRIES_MAX || grown.totalBytes > TOTAL_MAX_BYTES) throw tooLargeFault();
  const { version } = grown;
  const next: DatasetVersion = { version, firstPosition: dataset.entryCount, entryLines, createdAtMs: nowMs };
  return { dataset: grown, next };
}

/** The id of an entry is its position, which never changes. */
function numberEntries({ id }: Dataset, { firstPosition, entryLines, createdAtMs }: DatasetVersion): NumberedEntry[] {
  if (entryLines === '') return [];
  return entryLines
    .split('\n')
    .map((entryJson, index) => ({ id: `${id}-${firstPosition + index}`, entryJson, createdAtMs }));
}

function versionFault({ version }: Dataset): Fault {
  return new Fault('dataset_version_not_found', `The dataset has the versions 1 to ${version}.`);
}

function tooLargeFault(): Fault {
  const message = `A dataset holds at most ${ENTRIES_MAX} entries, and ${TOTAL_MAX_BYTES} bytes of their JSON.`;
  return new Fault('dataset_too_large', message);
}

/** What a dataset can still hold. */
type Capacity = { readonly entriesMax: number; readonly bytesMax: number };

type TraceEntries = {
  /** The compact JSON text of each; the trace that started last comes first. */
  readonly entries: readonly string[];
  readonly found: SearchTotal;
};

const PAGE_SIZE = 100;

/** Throws validation_error. Holds one page of traces at a time, and counts only the largest page as memory. */
async function readTraceEntries(
  { searches, ...pauses }: Omit<DatasetDeps, 'store' | 'random'>,
  capacity: Capacity,
  { search, call }: Omit<TracesDraft, 'limit' | 'asked'>,
): Promise<TraceEntries> {
  let largestPageBytes = 0;
  const entries: string[] = [];
  // A full dataset still reads one trace, because the search also counts; the caller drops its entry.
  let leftTraces = Math.max(capacity.entriesMax, 1);
  let found: SearchTotal = { count: 0, isExact: true };
  let leftBytes = Math.max(capacity.bytesMax, 1);
  let cursor: string | null = '';
  while (cursor !== null && leftTraces > 0 && leftBytes > 0) {
    const pageSize = Math.min(PAGE_SIZE, leftTraces);
    let pageBytes = 0;
    const countResponseBytes = (bytes: number) => {
      pageBytes += bytes;
      if (pageBytes <= largestPageBytes) return;
      call.countResponseBytes(pageBytes - largestPageBytes);
      largestPageBytes = pageBytes;
    };
    const page = await searches.search(
      { ...search, pageSize, sortBy: null, isAscending: false, includeSpans: false, cursor },
      { ...call, countResponseBytes },
    );
    found = page.total;
    leftTraces -= page.views.length;
    for (const view of page.views) {
      const entry = await entryOf(view, pauses);
      // One byte more for the line break.
      const bytes = entry === null ? 0 : Buffer.byteLength(entry) + 1;
      if (entry === null || bytes > leftBytes) continue;
      leftBytes -= bytes;
      call.countResponseBytes(bytes);
      entries.push(entry);
    }
    cursor = page.nextCursor;
  }
  return { entries, found };
}

/**
 * The output of the trace is the expected output where the trace has none. Null when a dataset cannot store the entry.
 */
async function entryOf({ record, input, output, expectedOutput }: TraceView, pauses: Pauses): Promise<string | null> {
  const texts = { input, expected_output: expectedOutput ?? output };
  const beginning = JSON.stringify(texts).slice(0, -1);
  const line = `${beginning},"metadata":${record.metadataJson},"trace_id":${JSON.stringify(record.traceId)}}`;
  const { entries } = await validateEntries({ entriesJson: `[${line}]`, csv: null, jsonl: null }, pauses);
  return entries[0] ?? null;
}
