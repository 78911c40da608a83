/** The tables in ClickHouse, and their versions. */

import { hash } from 'node:crypto';
import { StartError } from '../errors.ts';
import type { ClickHouse } from './client.ts';
import { refuseUnfit } from './fitness.ts';

/**
 * A part is on the disk before an insert is answered: the engine does not do so by default. A row with a higher version
 * replaces those with the same key.
 */
export const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1';

/**
 * One row per trace. The instant of receipt never changes, so a trace stays in its partition. Numbers of values and facets
 * are hashes (see index-plan.ts); texts are folded. Each span has a duration, with its model and its kind (see
 * model-durations.ts).
 */
const TRACES = `CREATE TABLE IF NOT EXISTS traces (
  project_number UInt64, inserted_at Int64 CODEC(DoubleDelta, ZSTD), sequence UInt64 CODEC(Delta, ZSTD),
  version UInt64, is_deleted UInt8,
  trace_id String CODEC(ZSTD), started_at Int64 CODEC(DoubleDelta, ZSTD), updated_at Int64 CODEC(DoubleDelta, ZSTD),
  total_time_ms Nullable(Int64), total_cost_nano_usd Nullable(Int64), total_tokens Nullable(Int64),
  first_token_ms Nullable(Int64), span_count UInt32, has_error UInt8,
  prompt_tokens Nullable(Int64), completion_tokens Nullable(Int64),
  user_value Nullable(UInt64), customer_value Nullable(UInt64), thread_value Nullable(UInt64),
  labels Array(UInt64), prompts Array(UInt64), prompt_versions Array(UInt64), prompt_names Array(UInt64),
  duration_models Array(Int64) CODEC(ZSTD), duration_kinds Array(UInt8) CODEC(ZSTD), duration_values Array(Int64) CODEC(ZSTD),
  facets Array(UInt64) CODEC(ZSTD), text String CODEC(ZSTD(3)), has_any_text UInt8,
  INDEX sequence sequence TYPE minmax GRANULARITY 1,
  INDEX started_at started_at TYPE minmax GRANULARITY 1,
  INDEX has_any_text has_any_text TYPE minmax GRANULARITY 1,
  INDEX facets facets TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX text text TYPE ngrambf_v1(3, 65536, 2, 0) GRANULARITY 1
) ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(inserted_at, 'UTC'))
ORDER BY (project_number, inserted_at, sequence)
SETTINGS ${DURABLE}, index_granularity = 1024`;

/** Says up to which step the tables have the traces of which database; one row. */
const STATE = `CREATE TABLE IF NOT EXISTS state (
  id UInt8, number UInt64, step String, previous Nullable(String), sequences String, walked_to UInt64, walk_end UInt64
) ENGINE = ReplacingMergeTree(number) ORDER BY id SETTINGS ${DURABLE}`;

const TABLES = [TRACES, STATE] as const;
/** Tables of earlier versions, which are made anew. */
const FORMER: ReadonlySet<string> = new Set(['2c9031b3e2144926']);
/** Other tables of these names are not ours, or of another version. */
const FINGERPRINT = hash('sha256', TABLES.join('\n')).slice(0, 16);
const VERSIONS = `CREATE TABLE IF NOT EXISTS spandrel_schema (fingerprint String) ENGINE = MergeTree ORDER BY fingerprint SETTINGS ${DURABLE}`;

/**
 * Creates the tables that are missing, and makes those of earlier versions anew. Throws StartError for tables of another
 * version.
 */
export async function createTables(clickHouse: ClickHouse): Promise<void> {
  await refuseUnfit(clickHouse);
  await clickHouse.command(VERSIONS);
  const known = await readVersion(clickHouse);
  if (known !== null && FORMER.has(known)) {
    // The version last: until then this is tried again.
    for (const table of ['traces', 'state', 'spandrel_schema'])
      await clickHouse.command(`DROP TABLE IF EXISTS ${table}`);
    await createTables(clickHouse);
    return;
  }
  refuseOther(known);
  // The state of lost tables would say that they are filled.
  if (!(await isThere(clickHouse, 'traces'))) await clickHouse.command('DROP TABLE IF EXISTS state');
  for (const table of TABLES) await clickHouse.command(table);
  if (known === null) await clickHouse.insert('spandrel_schema', [{ fingerprint: FINGERPRINT }]);
}

/** Throws StartError for tables of another version, and changes nothing. */
export async function refuseOtherTables(clickHouse: ClickHouse): Promise<void> {
  if (await isThere(clickHouse, 'spandrel_schema')) refuseOther(await readVersion(clickHouse));
}

async function isThere({ rows }: ClickHouse, table: string): Promise<boolean> {
  const [answer] = await rows<{ result: number }>(`EXISTS TABLE ${table}`);
  return answer?.result === 1;
}

async function readVersion({ rows }: ClickHouse): Promise<string | null> {
  const [known] = await rows<{ fingerprint: string }>('SELECT fingerprint FROM spandrel_schema LIMIT 1');
  return known?.fingerprint ?? null;
}

function refuseOther(known: string | null): void {
  if (known === null || known === FINGERPRINT || FORMER.has(known)) return;
  throw new StartError(
    'the tables in ClickHouse are of another version; give SPANDREL_TELEMETRY_URL another database, which is filled anew, unless texts were moved to this one',
  );
}
