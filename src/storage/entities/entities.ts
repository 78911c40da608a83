/** Every table of each store. A table that a file of this folder exports belongs to both, unless it is named here. */

import * as analytics from './analytics.ts';
import * as annotations from './annotations.ts';
import * as answers from './answers.ts';
import * as audit from './audit.ts';
import * as budgets from './budgets.ts';
import * as dashboards from './dashboards.ts';
import * as datasets from './datasets.ts';
import * as endpoints from './endpoints.ts';
import * as evaluations from './evaluations.ts';
import * as evaluators from './evaluators.ts';
import * as events from './events.ts';
import * as experiments from './experiments.ts';
import * as keys from './keys.ts';
import { bytes, integer, table } from './kinds.ts';
import * as modelProviders from './model-providers.ts';
import * as monitors from './monitors.ts';
import * as organization from './organization.ts';
import * as pricing from './pricing.ts';
import * as prompts from './prompts.ts';
import * as schema from './schema.ts';
import * as search from './search.ts';
import * as spend from './spend.ts';
import * as traces from './traces.ts';
import * as triggers from './triggers.ts';
import * as virtualKeys from './virtual-keys.ts';

/**
 * Takes and loses a row when the store checks whether writing works again. On PostgreSQL the migration forbids
 * compression: a compressed row would fit into a file that cannot grow any more.
 */
export const WriteProbe = table('WriteProbe', 'write_probe', {
  id: integer().primary().autoincrement(),
  filler: bytes(),
});

const { AuthGeneration, ...ofKeys } = keys;
const { IndexedTraceRow, IndexedDuration, IndexedModelDuration, RemovedText, TextMove, TextOwner, ...ofSearch } =
  search;
const { TraceOnSqlite, TraceOnPostgres, LargeText, UnusedText, ...ofTraces } = traces;
const { EventOnSqlite, Envelope, RequestOnSqlite, RequestKeyOnSqlite, IndexedRequests, ...others } = events;
const { EventOnPostgres, RequestOnPostgres, RequestKeyOnPostgres, ...ofEvents } = others;

const SHARED = Object.values({
  ...{ ...organization, ...audit, ...ofKeys, ...evaluators, ...datasets, ...evaluations, ...experiments, ...pricing },
  ...{
    ...monitors,
    ...triggers,
    ...endpoints,
    ...schema,
    ...modelProviders,
    ...virtualKeys,
    ...budgets,
    ...answers,
    ...dashboards,
  },
  ...{ WriteProbe, ...ofTraces, ...analytics, ...ofEvents, ...ofSearch, ...spend, ...annotations, ...prompts },
});

export const SQLITE_TABLES = [
  ...SHARED,
  ...[
    TraceOnSqlite,
    LargeText,
    UnusedText,
    RequestOnSqlite,
    RequestKeyOnSqlite,
    IndexedRequests,
    EventOnSqlite,
    Envelope,
  ],
];

export const POSTGRES_TABLES = [
  ...SHARED,
  ...[TraceOnPostgres, RequestOnPostgres, RequestKeyOnPostgres, EventOnPostgres, AuthGeneration],
  ...[IndexedTraceRow, IndexedDuration, IndexedModelDuration, RemovedText, TextMove, TextOwner],
];
