/** Every table of each store. */

import { AnalyticsHour } from './analytics.ts';
import { AuditEntry } from './audit.ts';
import { DatasetPartRow, DatasetRow } from './datasets.ts';
import {
  WebhookAttempt,
  WebhookChangeCount,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookFigure,
  WebhookHour,
  WebhookReplay,
  WebhookState,
} from './endpoints.ts';
import { EvaluationJobRow, EvaluatorRunRow } from './evaluations.ts';
import { EvaluatorRow } from './evaluators.ts';
import {
  Envelope,
  EventOnPostgres,
  EventOnSqlite,
  GovernanceEvent,
  IndexedRequests,
  LogHead,
  RequestKeyOnPostgres,
  RequestKeyOnSqlite,
  RequestOnPostgres,
  RequestOnSqlite,
} from './events.ts';
import { ExperimentResultRow, ExperimentRow, ExperimentRunRow } from './experiments.ts';
import { ApiKey, ApiKeyBinding, AuthGeneration } from './keys.ts';
import { bytes, integer, table } from './kinds.ts';
import { MonitorChangeCount, MonitorRow } from './monitors.ts';
import { IdempotencyReceipt, Installation, Member, Organization, Project, RoleBinding, Team } from './organization.ts';
import { PriceOverrideRow } from './pricing.ts';
import { SearchBlock, SearchFacet, SearchHead, SearchPart, SearchPending } from './search.ts';
import { SpendBlock, SpendHead, SpendPart } from './spend.ts';
import { EvaluationRow, SpanRow, TraceOnPostgres, TraceOnSqlite } from './traces.ts';

/**
 * Takes and loses a row when the store checks whether writing works again. On PostgreSQL the migration forbids
 * compression: a compressed row would fit into a file that cannot grow any more.
 */
export const WriteProbe = table('WriteProbe', 'write_probe', {
  id: integer().primary().autoincrement(),
  filler: bytes(),
});

const SHARED = [
  Installation,
  Organization,
  Team,
  Project,
  Member,
  RoleBinding,
  AuditEntry,
  ApiKey,
  ApiKeyBinding,
  EvaluatorRow,
  DatasetRow,
  DatasetPartRow,
  EvaluatorRunRow,
  ExperimentRow,
  ExperimentRunRow,
  ExperimentResultRow,
  PriceOverrideRow,
  MonitorRow,
  MonitorChangeCount,
  EvaluationJobRow,
  IdempotencyReceipt,
  LogHead,
  WebhookEndpoint,
  WebhookState,
  WebhookChangeCount,
  WebhookReplay,
  WebhookDelivery,
  WriteProbe,
  SpanRow,
  EvaluationRow,
  AnalyticsHour,
  GovernanceEvent,
  WebhookAttempt,
  WebhookFigure,
  WebhookHour,
  SearchPending,
  SearchHead,
  SearchBlock,
  SearchFacet,
  SearchPart,
  SpendHead,
  SpendBlock,
  SpendPart,
] as const;

export const SQLITE_TABLES = [
  ...SHARED,
  TraceOnSqlite,
  RequestOnSqlite,
  RequestKeyOnSqlite,
  IndexedRequests,
  EventOnSqlite,
  Envelope,
] as const;

export const POSTGRES_TABLES = [
  ...SHARED,
  TraceOnPostgres,
  RequestOnPostgres,
  RequestKeyOnPostgres,
  EventOnPostgres,
  AuthGeneration,
] as const;
