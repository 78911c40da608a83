/**
 * Texts of spans in ClickHouse. The main database refers to them once it has no copy of its own, so these tables can not be made
 * anew: they are never emptied, and never dropped. A text that is written twice is there twice, at two places.
 */

import { randomBytes } from 'node:crypto';
import { Fault, unavailableFault } from '../../domain/fault.ts';
import { type ClickHouse, isRefusal, listOf, openClickHouse, quote } from './client.ts';
import { DURABLE } from './schema.ts';

/** Which text of which span. */
export type TextKey = {
  readonly projectNumber: number;
  readonly sequence: number;
  readonly spanId: string;
  readonly name: string;
};
export type SpanText = TextKey & { readonly text: string };
/** A text that was written. `place` names it for ever, `digest` is the SHA-256 of what is stored, in hexadecimal. */
export type WrittenText = TextKey & { readonly place: string; readonly digest: string; readonly writtenAtMs: number };
export type SpanKey = Omit<TextKey, 'name'>;

export type TextStore = {
  /** Which database the texts are of; null: of none yet. */
  readOwner(): Promise<string | null>;
  storeOwner(owner: string): Promise<void>;
  /** By place; texts that are not there are left out. */
  read(places: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Resolves once they are on the disk. */
  write(texts: readonly SpanText[], nowMs: number): Promise<void>;
  /** What was written of some spans, but for what was removed. */
  list(spans: readonly SpanKey[]): Promise<readonly WrittenText[]>;
  /**
   * Nothing refers to these any more. A purge takes them from the disk some days later: a database that is put back to yesterday
   * refers to them again. `step` counts what it said of this.
   */
  remove(places: readonly string[], step: number): Promise<void>;
  /** The next purge takes all texts of these traces from the disk. */
  removeTraces(traces: readonly Omit<SpanKey, 'spanId'>[], step: number): Promise<void>;
  /** Forgets what was said after a step: the database was put back to that time. What was purged already is gone. */
  forgetRemovals(after: number): Promise<void>;
  /** Begins to take removed texts from the disk, unless a purge is at work or was so a few hours ago. */
  purge(): Promise<void>;
  close(): Promise<void>;
};

/** The texts that were copied together lie together; a month of them is a partition. */
const TEXTS = `CREATE TABLE IF NOT EXISTS span_texts (
  batch String CODEC(ZSTD), item UInt32 CODEC(Delta, ZSTD), written_at Int64 CODEC(Delta, ZSTD),
  project_number UInt64 CODEC(Delta, ZSTD), sequence UInt64 CODEC(Delta, ZSTD), span_id String CODEC(ZSTD),
  name LowCardinality(String), text String CODEC(ZSTD(3)),
  INDEX sequence sequence TYPE minmax GRANULARITY 1
) ENGINE = MergeTree PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(written_at, 'UTC')) ORDER BY (batch, item)
SETTINGS ${DURABLE}, index_granularity = 256, index_granularity_bytes = 1048576`;
const REMOVED = `CREATE TABLE IF NOT EXISTS removed_span_texts (
  batch String, item UInt32, step UInt64, purge_after DateTime64(3, 'UTC'))
ENGINE = MergeTree ORDER BY (batch, item) SETTINGS ${DURABLE}`;
const OWNER = `CREATE TABLE IF NOT EXISTS span_texts_owner (owner String) ENGINE = MergeTree ORDER BY owner SETTINGS ${DURABLE}`;

/** Random, so that it is never that of another copy, also of a database that was put back to an earlier time. */
const RANDOM_BYTES = 8;
const BASE = 36;
/** Statements have a limit. */
const REMOVED_PER_STATEMENT = 1_000;
const KEPT_SECONDS = 3 * 86_400;
const PURGE_HOURS = 11;

type Row = { readonly batch: string; readonly item: number };

const RETRY_AFTER_SECONDS = 5;

/** `address`: see openClickHouse. `purgeHours`: how long a purge waits after the last one. */
export function openTextStore(address: string, { purgeHours = PURGE_HOURS } = {}): TextStore {
  const clickHouse = openClickHouse(address);
  let tables: Promise<void> | null = null;

  /** A database that lost its tables gets them again. */
  async function withTables<T>(work: () => Promise<T>): Promise<T> {
    tables ??= createTables(clickHouse);
    try {
      await tables;
      return await work();
    } catch (error) {
      tables = null;
      if (!(error instanceof Fault)) throw error;
      throw unavailableFault(
        'Texts of older traces cannot be read right now. Try again.',
        RETRY_AFTER_SECONDS,
        error.cause,
      );
    }
  }

  /** The places of those that were removed. */
  async function listRemoved(rows: readonly Row[]): Promise<ReadonlySet<string>> {
    if (rows.length === 0) return new Set();
    const [batches, items] = [new Set(rows.map(({ batch }) => quote(batch))), new Set(rows.map(({ item }) => item))];
    const removed = await clickHouse.rows<Row>(
      `SELECT DISTINCT batch, item FROM removed_span_texts
       WHERE batch IN [${[...batches].join(', ')}] AND item IN ${listOf(items)}`,
    );
    return new Set(removed.map(toPlace));
  }

  return {
    readOwner: () =>
      withTables(async () => {
        const [row] = await clickHouse.rows<{ owner: string }>('SELECT owner FROM span_texts_owner LIMIT 1');
        return row?.owner ?? null;
      }),

    storeOwner: (owner) => withTables(() => clickHouse.insert('span_texts_owner', [{ owner }])),

    read: (places) =>
      withTables(async () => {
        if (places.length === 0) return new Map();
        const found = await clickHouse.rows<Row & { text: string }>(
          `SELECT batch, item, text FROM span_texts WHERE (batch, item) IN (${places.map(toTuple).join(', ')})`,
        );
        return new Map(found.map((row) => [toPlace(row), row.text]));
      }),

    write: (texts, nowMs) =>
      withTables(async () => {
        // By the time, so that texts lie in the order in which they were copied.
        const batch = `${nowMs.toString(BASE)}-${randomBytes(RANDOM_BYTES).toString('hex')}`;
        await clickHouse.insert(
          'span_texts',
          texts.map(({ projectNumber, sequence, spanId, name, text }, item) => ({
            ...{ batch, item, written_at: nowMs, project_number: projectNumber, sequence },
            ...{ span_id: spanId, name, text },
          })),
        );
      }),

    list: (spans) =>
      withTables(async () => {
        if (spans.length === 0) return [];
        const [sequences, spanIds] = [new Set<number>(), new Set<string>()];
        for (const { sequence, spanId } of spans) {
          sequences.add(sequence);
          spanIds.add(quote(spanId));
        }
        // Two arrays are parsed in a third of the time of as many triples, and find few others.
        const found = await clickHouse.rows<Omit<WrittenText, 'place'> & Row>(
          `SELECT batch, item, project_number AS projectNumber, sequence, span_id AS spanId, name,
             written_at AS writtenAtMs, lower(hex(SHA256(text))) AS digest FROM span_texts
           WHERE sequence IN ${listOf(sequences)} AND span_id IN [${[...spanIds].join(', ')}]`,
        );
        const [asked, removed] = [new Set(spans.map(keyOf)), await listRemoved(found)];
        return found
          .filter((row) => asked.has(keyOf(row)))
          .map(({ batch, item, ...text }) => ({ ...text, place: toPlace({ batch, item }) }))
          .filter(({ place }) => !removed.has(place));
      }),

    remove: (places, step) =>
      withTables(async () => {
        for (const some of cut(places)) {
          await clickHouse.command(
            `INSERT INTO removed_span_texts (batch, item, step, purge_after)
             SELECT place.1, place.2, ${step}, now64(3, 'UTC') + INTERVAL ${KEPT_SECONDS} SECOND
             FROM (SELECT arrayJoin([${some.map(toTuple).join(', ')}]) AS place)`,
          );
        }
      }),

    removeTraces: (traces, step) =>
      withTables(async () => {
        for (const some of cut(traces)) {
          const sequences = new Set(some.map(({ sequence }) => sequence));
          const keys = some.map(({ projectNumber, sequence }) => `(${projectNumber}, ${sequence})`);
          await clickHouse.command(
            `INSERT INTO removed_span_texts (batch, item, step, purge_after)
             SELECT batch, item, ${step}, now64(3, 'UTC') FROM span_texts
             WHERE sequence IN ${listOf(sequences)} AND (project_number, sequence) IN (${keys.join(', ')})`,
          );
        }
      }),

    forgetRemovals: (after) =>
      withTables(async () => {
        const later = await clickHouse.rows(`SELECT 1 FROM removed_span_texts WHERE step > ${after} LIMIT 1`);
        if (later.length > 0)
          await clickHouse.command(
            `ALTER TABLE removed_span_texts DELETE WHERE step > ${after} SETTINGS mutations_sync = 2`,
          );
      }),

    purge: () =>
      withTables(async () => {
        const [busy] = await clickHouse.rows<{ reason: string }>(unfinished(purgeHours)).catch(noneIfRefused);
        if (busy !== undefined && busy.reason !== '')
          throw new Error(`ClickHouse cannot rewrite its parts: ${busy.reason}`);
        if (busy !== undefined) return;
        // What the last purge took need not be known any more.
        const [last] = await clickHouse.rows<{ at: number }>(LAST_PURGE).catch(noneIfRefused);
        if (last !== undefined && last.at > 0)
          await clickHouse.command(
            `ALTER TABLE removed_span_texts DELETE WHERE toUnixTimestamp(purge_after) < ${last.at}`,
          );
        const due = await clickHouse.rows(`SELECT 1 FROM removed_span_texts WHERE ${IS_DUE} LIMIT 1`);
        if (due.length === 0) return;
        await clickHouse.command(
          `ALTER TABLE span_texts DELETE WHERE (batch, item) IN (SELECT batch, item FROM removed_span_texts WHERE ${IS_DUE})`,
        );
      }),

    close: clickHouse.close,
  };
}

async function createTables(clickHouse: ClickHouse): Promise<void> {
  for (const table of [TEXTS, REMOVED, OWNER]) await clickHouse.command(table);
}

const IS_DUE = `purge_after <= now64(3, 'UTC')`;

function unfinished(purgeHours: number): string {
  return `SELECT latest_fail_reason AS reason FROM system.mutations
    WHERE database = currentDatabase() AND table IN ('span_texts', 'removed_span_texts')
      AND (NOT is_done OR (table = 'span_texts' AND create_time > now() - INTERVAL ${purgeHours} HOUR))
    ORDER BY reason DESC LIMIT 1`;
}

const LAST_PURGE = `SELECT toUInt32(toUnixTimestamp(max(create_time))) AS at FROM system.mutations
  WHERE database = currentDatabase() AND table = 'span_texts' AND is_done`;

/** A user without the right to read system.mutations purges all the same. */
function noneIfRefused(error: Error): [] {
  if (isRefusal(error)) return [];
  throw error;
}

function cut<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / REMOVED_PER_STATEMENT) }, (_, part) =>
    items.slice(part * REMOVED_PER_STATEMENT, (part + 1) * REMOVED_PER_STATEMENT),
  );
}

function keyOf({ projectNumber, sequence, spanId }: SpanKey): string {
  return `${projectNumber} ${sequence} ${spanId}`;
}

function toPlace({ batch, item }: Row): string {
  return `${batch} ${item}`;
}

function toTuple(place: string): string {
  const [batch = '', item = ''] = place.split(' ');
  return `(${quote(batch)}, ${Number(item)})`;
}
