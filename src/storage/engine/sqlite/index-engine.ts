/** The index of traces of a SQLite database: a file beside it, or ClickHouse. */

import type { IndexEngine } from '../../clickhouse/index-engine.ts';
import { createIndexReads } from './indexed-sums.ts';
import type { Reading } from './readers.ts';
import { createIndexSource, createSearchSteps } from './search-steps.ts';

export async function openIndex(reading: Reading, telemetryUrl: string | null): Promise<IndexEngine> {
  if (telemetryUrl === null) return openFileIndex(reading);
  const { openClickHouseIndex } = await import('../../clickhouse/index-engine.ts');
  return openClickHouseIndex(telemetryUrl, createIndexSource(reading));
}

export function openFileIndex(reading: Reading): IndexEngine {
  const steps = createSearchSteps(reading);
  return { ...steps, reads: createIndexReads(steps) };
}
