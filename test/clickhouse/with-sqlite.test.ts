import { describe } from 'vitest';
import { telemetryPortConformance } from '../storage/conformance/store.ts';
import { indexConformance } from './index-conformance.ts';
import { openSqlite } from './subjects.ts';

describe('SQLite with ClickHouse', () => {
  indexConformance(openSqlite);
  telemetryPortConformance(openSqlite);
});
