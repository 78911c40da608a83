/**
 * Finds traces by the index. What has changed since it was indexed is looked at as it is stored; all else the index
 * answers alone where it knows for sure, and where it does not, it says which traces to look at. Whatever is answered was
 * judged by the rules of the domain.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMatcher, createTextMatcher, needsOf } from '../../domain/trace-filter.ts';
import type { FoundTraces, SearchPlace, SearchQuestion } from '../../domain/trace-search-store.ts';
import { createDocuments } from './documents.ts';
import { placeOf, totalOf } from './found.ts';
import { createIndexFilter, planFilter } from './index-filter.ts';
import { createIndexSelection, type IndexSelection } from './index-selection.ts';
import { listAllBlocks } from './known-blocks.ts';
import { comparePlaces, findBySequences, isBehind, type Ranked, rankFound } from './named-traces.ts';
import type { SearchAsking } from './trace-search.ts';

/** More that is not indexed is quicker found by going through all traces in their order. */
const JUDGED_MAX = 4_096;
const ATTEMPTS_MAX = 3;
const FIND_MAX_MS = 3_000;
const COUNT_MAX_MS = 3_000;
const COUNT_WITH_TEXT_MAX_MS = 50;
const VERIFIED_AT_ONCE = 100;

/** Null: the index is of no use for the question. */
export async function findByIndex(asking: SearchAsking, question: SearchQuestion): Promise<FoundTraces | null> {
  const { questions, ask } = asking;
  const { projectNumber } = question;
  const generation = async () => (await ask(questions.findHead, { projectNumber }))[0]?.generation ?? null;
  for (let attempt = 0, known = await generation(); known !== null && attempt < ATTEMPTS_MAX; attempt += 1) {
    const found = await attemptFind(asking, question);
    const after = await generation();
    // What was taken out of a block while this looked at it may have been looked at nowhere.
    if (after === known || found === null) return found;
    known = after;
  }
  return null;
}

async function attemptFind(asking: SearchAsking, question: SearchQuestion): Promise<FoundTraces | null> {
  const { questions, ask } = asking;
  const { projectNumber } = question;
  const plan = planFilter(question.filter);
  if (plan === null) return null;
  // Before the blocks: what is indexed meanwhile is looked at twice rather than nowhere.
  const marked = await ask(questions.listPending, { projectNumber, limit: JUDGED_MAX + 1 });
  if (marked.length > JUDGED_MAX) return null;
  const blocks = await listAllBlocks(asking, projectNumber);
  if (blocks.length === 0) return null;
  const pending = marked.map(({ sequence }) => sequence);
  const filter = createIndexFilter({ ...asking, question, plan, pending });
  const judged = new Set([...pending, ...(await filter.crowded(blocks))]);
  if (judged.size > JUDGED_MAX) return null;
  const look = createLook(asking, question);
  const found = rankFound(await findBySequences(asking, projectNumber, [...judged]), question);
  const fitting: Ranked[] = [];
  const endsAtMs = asking.nowMs() + FIND_MAX_MS;
  let isLate = false;
  await look(found, (row, fits) => {
    if (fits) fitting.push(row);
    isLate = asking.nowMs() > endsAtMs;
    return isLate;
  });
  // Going through the traces in their order ends in time, with a place to go on from.
  if (isLate) return null;
  const selection = createIndexSelection({ asking, question, filter, blocks });
  const parts: Parts = { asking, question, fitting, selection, look };
  return await (plan.isExact ? takeSelected(parts) : verifySelected(parts));
}

type Parts = {
  readonly asking: SearchAsking;
  readonly question: SearchQuestion;
  /** What is looked at whatever the index says, and fits. */
  readonly fitting: readonly Ranked[];
  readonly selection: IndexSelection;
  readonly look: Look;
};

/** The index knows all that fits. */
async function takeSelected({ question, fitting, selection, look }: Parts): Promise<FoundTraces | null> {
  const { after, limit, countMax } = question;
  const selected = await selection.select({ after, limit: limit + 1 });
  if (selected === null) return null;
  const { page, next } = toPage({ question, fitting, rows: selected.rows, end: null });
  const isFitting = new Set(fitting);
  await look(
    page.filter((row) => !isFitting.has(row)),
    (row, fits) => {
      if (fits) isFitting.add(row);
      return false;
    },
  );
  const count = countMax === null ? 0 : (await selection.count(countMax)) + fitting.length;
  return { traces: page.filter((row) => isFitting.has(row)).map(placeOf), next, total: totalOf(count, true, countMax) };
}

/** The index knows all that may fit. */
async function verifySelected({ asking, question, fitting, selection, look }: Parts): Promise<FoundTraces | null> {
  const { limit, countMax, filter } = question;
  const { nowMs } = asking;
  const startedAtMs = nowMs();
  const countMaxMs = filter.text === '' ? COUNT_MAX_MS : COUNT_WITH_TEXT_MAX_MS;
  const rows: Ranked[] = [];
  let count = fitting.length;
  let end: SearchPlace | null = question.after;
  let isEnd = false;
  let isOver = false;
  while (!isEnd && !isOver) {
    const selected = await selection.select({ after: end, limit: VERIFIED_AT_ONCE });
    if (selected === null) return null;
    await look(selected.rows, (row, fits) => {
      if (fits) {
        count += 1;
        if (rows.length <= limit) rows.push(row);
      }
      end = placeOf(row);
      const passedMs = nowMs() - startedAtMs;
      const isFull = rows.length > limit;
      isOver = isFull ? countMax === null || count > countMax || passedMs > countMaxMs : passedMs > FIND_MAX_MS;
      return isOver;
    });
    isEnd = selected.isEnd && !isOver;
  }
  const isCutShort = !isEnd && rows.length <= limit;
  const { page, next } = toPage({ question, fitting, rows, end: isCutShort ? end : null });
  return { traces: page.map(placeOf), next, total: totalOf(count, isEnd, countMax) };
}

type ToPage = {
  readonly question: SearchQuestion;
  readonly fitting: readonly Ranked[];
  readonly rows: readonly Ranked[];
  /** Where looking for rows has ended before it was through; null: it has not. */
  readonly end: SearchPlace | null;
};

function toPage({ question, fitting, rows, end }: ToPage): { page: readonly Ranked[]; next: SearchPlace | null } {
  const isKnown = new Set(fitting.map(({ sequence }) => sequence));
  const merged = [
    ...fitting.filter((row) => isBehind(row, question.after, question)),
    ...rows.filter(({ sequence }) => !isKnown.has(sequence)),
  ]
    .filter((row) => end === null || comparePlaces(row, end, question) <= 0)
    .sort((one, other) => comparePlaces(one, other, question));
  const page = merged.slice(0, question.limit);
  const last = page.at(-1);
  const next = merged.length > question.limit && last !== undefined ? placeOf(last) : end;
  return { page, next };
}

/** Judges rows in their order, until `take` says that it is enough. */
type Look = (rows: readonly Ranked[], take: (row: Ranked, fits: boolean) => boolean) => Promise<void>;

function createLook(asking: SearchAsking, { projectNumber, filter }: SearchQuestion): Look {
  const fits = createMatcher(filter);
  const holds = createTextMatcher(filter.text);
  const documents = createDocuments(asking, { projectNumber, needs: needsOf(filter) });
  return async (rows, take) => {
    for (const part of documents.cut(rows)) {
      for (const { row, document } of await documents.read(part)) {
        const isFitting = fits(document) && (filter.text === '' || (await documents.forEachText(row, document, holds)));
        if (take(row, isFitting)) return;
      }
      await nextTurn();
    }
  };
}
