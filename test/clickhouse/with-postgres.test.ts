import { describe } from 'vitest';
import { telemetryPortConformance } from '../storage/conformance/store.ts';
import { indexConformance } from './index-conformance.ts';
import { openPostgres } from './subjects.ts';

describe('PostgreSQL with ClickHouse', () => {
  indexConformance(openPostgres);
  telemetryPortConformance(openPostgres);
});
